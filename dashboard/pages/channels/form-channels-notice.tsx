// The channels of a form, and a notice when some of them send nothing.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { TriangleAlert } from 'lucide-react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { type ChannelResource, channelsQuery } from '../../api/channels.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { findTrouble } from './channel-health.ts'
import { getChannelKind } from './channel-kinds.tsx'
import { ChannelNotice } from './channel-notice.tsx'
import { findSilence } from './find-silence.ts'

/** The line at the top of a form: its recipients, and the channels that cannot send. */
export function FormListeners({ form: { formKey, channelIds } }: { form: FormResource }) {
  const api = useApi()
  const { data } = useQuery(channelsQuery(api))
  if (!data) return null
  const channels = data.data.filter(({ id }) => channelIds.includes(id))
  const telling = channels.filter((channel) => findSilence(channel) === undefined)
  const silent = channels.filter((channel) => findSilence(channel) !== undefined)
  return (
    <span className="wrap-anywhere">
      {telling.length > 0 ? `Notifies ${telling.map(nameChannel).join(', ')}.` : 'Nobody is notified.'}{' '}
      {silent.length > 0 && (
        <span className="text-warn">
          Not notified: {silent.map((channel) => `${channel.name} (${findSilence(channel)})`).join(', ')}.{' '}
        </span>
      )}
      <Link
        to="/$workspaceId/forms/$formKey"
        params={{ workspaceId: String(api.workspaceId), formKey }}
        search={{ tab: 'settings' }}
        className="text-link"
      >
        {telling.length > 0 ? 'Change' : 'Choose who is notified'}
      </Link>
    </span>
  )
}

const nameChannel = ({ name, type }: ChannelResource) => `${name} (${getChannelKind(type).label})`

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
            <li key={channel.id} className="min-w-0 wrap-anywhere">
              <Link
                to="/$workspaceId/notifications"
                params={{ workspaceId: String(api.workspaceId) }}
                search={{ edit: String(channel.id) }}
                className="text-link"
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
