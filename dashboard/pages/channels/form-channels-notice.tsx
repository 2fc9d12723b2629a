// The notice on a form's page that channels of the form send nothing.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { TriangleAlert } from 'lucide-react'
import { channelsQuery } from '../../api/channels.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { TEXT_LINK } from '../../ui/text-link.ts'
import { findTrouble } from './channel-health.ts'
import { ChannelNotice } from './channel-notice.tsx'

/** Draws nothing while every channel of the form works. */
export function FormChannelsNotice({ channelIds }: { channelIds: number[] }) {
  const api = useApi()
  const { data } = useQuery(channelsQuery(api))
  const failing =
    data?.data.filter((channel) => channelIds.includes(channel.id) && findTrouble(channel)) ?? []
  if (failing.length === 0) return null
  return (
    <section
      aria-label="Notifications of this form"
      className="mb-5 flex gap-3 rounded-xl border border-danger bg-danger-tint px-4 py-3"
    >
      <TriangleAlert size={18} aria-hidden className="mt-0.5 shrink-0 text-danger" />
      <div className="min-w-0 flex-1">
        <h2 className="font-medium">This form’s notifications aren’t arriving</h2>
        <ul className="mt-1 grid gap-2">
          {failing.map((channel) => (
            <li key={channel.id} className="min-w-0">
              <Link
                to="/$workspaceId/channels"
                params={{ workspaceId: String(api.workspaceId) }}
                search={{ edit: String(channel.id) }}
                className={TEXT_LINK}
              >
                {channel.name}
              </Link>
              <ChannelNotice channel={channel} />
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}
