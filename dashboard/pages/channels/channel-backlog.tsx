// The backlog of a channel: how many notifications wait, and whether it grows.

import type { ChannelResource } from '../../api/channels.ts'
import { formatCount } from '../../ui/format.ts'
import { RelativeTime } from '../../ui/relative-time.tsx'

/** Draws nothing while nothing waits. */
export function ChannelBacklog({ channel }: { channel: ChannelResource }) {
  const { waiting, oldestWaitingAt, behindSince } = channel
  if (oldestWaitingAt === null) return null
  return (
    <p className="mt-1 text-sm text-soft">
      {formatCount(waiting, 'notification')} waiting, the oldest came <RelativeTime at={oldestWaitingAt} />.
      {behindSince !== null && (
        <span className="text-danger"> Notifications arrive faster than the receiver accepts them.</span>
      )}
    </p>
  )
}
