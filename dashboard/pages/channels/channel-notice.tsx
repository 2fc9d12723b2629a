// A notice on a channel that sends nothing: since when, why, and what happens with its notifications.

import type { ChannelResource } from '../../api/channels.ts'
import { formatExactly, formatTime } from '../../ui/format.ts'
import { findTrouble } from './channel-health.ts'

/** Draws nothing for a channel that works. */
export function ChannelNotice({ channel }: { channel: ChannelResource }) {
  const trouble = findTrouble(channel)
  if (!trouble) return null
  const { since, reason, next } = trouble
  const isOff = channel.disabledReason !== null && channel.unavailableReason === null
  return (
    <p className="mt-1 text-sm wrap-anywhere">
      <span className="text-danger">
        {isOff && 'Turned off: '}
        {since !== null && (
          <>
            Failing since{' '}
            <time dateTime={since} title={formatExactly(since)}>
              {formatTime(since)}
            </time>
            :{' '}
          </>
        )}
        {reason}
      </span>{' '}
      <span className="text-soft">{next}</span>
    </p>
  )
}
