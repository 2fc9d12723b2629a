// Sidebar badge: the number of channels that send nothing.

import { useQuery } from '@tanstack/react-query'
import { channelsQuery } from '../api/channels.ts'
import { findTrouble } from '../pages/channels/channel-health.ts'
import { formatCount } from '../ui/format.ts'
import { useApi } from './use-workspace.ts'

const REFRESH_MS = 60_000

/** Draws nothing while all channels work. */
export function ChannelsBadge() {
  const { data } = useQuery({
    ...channelsQuery(useApi()),
    staleTime: REFRESH_MS,
    refetchInterval: REFRESH_MS,
  })
  const failing = data?.data.filter((channel) => findTrouble(channel) !== undefined).length ?? 0
  if (failing === 0) return null
  const text = `${formatCount(failing, 'channel')} not working`
  return (
    <span title={text} className="ml-auto rounded-md bg-danger-tint px-1.5 text-xs font-medium text-danger">
      <span aria-hidden>{failing}</span>
      <span className="sr-only">{text}</span>
    </span>
  )
}
