// The state of a channel, with an explanation for people where it does not work.

import type { ChannelResource } from '../../api/channels.ts'
import { translateError } from '../../api/error-texts.ts'
import { isInTrouble } from './is-in-trouble.ts'

export interface ChannelTrouble {
  label: 'Failing' | 'Off' | 'Not available'
  /** When it began; null where that says nothing. */
  since: string | null
  /** A sentence, or several. */
  reason: string
  next: string
}

const toSentence = (text: string) => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** undefined for a channel that works, or that a person has turned off. */
export function findTrouble(channel: ChannelResource): ChannelTrouble | undefined {
  const { disabledReason, unavailableReason, failingSince, lastError } = channel
  if (!isInTrouble(channel)) return undefined
  if (unavailableReason !== null) {
    const next = 'Submissions still arrive in the inbox.'
    return {
      label: 'Not available',
      since: null,
      reason: toSentence(translateError(unavailableReason)),
      next,
    }
  }
  if (disabledReason !== null) {
    const next = 'Waiting deliveries are kept, and sent after you turn it on again.'
    return { label: 'Off', since: null, reason: toSentence(translateError(disabledReason)), next }
  }
  const reason = lastError === null ? 'The last attempt failed.' : toSentence(translateError(lastError))
  const next =
    'Failed notifications are retried for three days. Send a test to see whether the channel works again.'
  return { label: 'Failing', since: failingSince, reason, next }
}
