// The reason that a channel announces no submissions of a form.

import type { ChannelResource } from '../../api/channels.ts'

/** @returns undefined for a channel that announces them */
export function findSilence(channel: ChannelResource): string | undefined {
  const { type, enabled, events, unavailableReason, to, unconfirmed, stopped } = channel
  if (!enabled) return 'Off'
  if (!events.includes('submission.created')) return 'For other events only'
  if (unavailableReason !== null) return 'Can’t send'
  if (type !== 'email' || to.some((each) => !unconfirmed.includes(each) && !stopped.includes(each)))
    return undefined
  return unconfirmed.length > 0 ? 'Waiting for confirmation' : 'Stopped by the recipient'
}
