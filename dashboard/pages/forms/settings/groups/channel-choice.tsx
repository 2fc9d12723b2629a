// The channels that get a form's notifications.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import type { ChannelResource } from '../../../../../server/features/notify/schema.ts'
import { channelsQuery } from '../../../../api/channels.ts'
import { useApi } from '../../../../shell/use-workspace.ts'
import { Badge } from '../../../../ui/badge.tsx'
import { ErrorState } from '../../../../ui/error-state.tsx'
import { Checkbox } from '../../../../ui/forms/field.tsx'
import { Skeleton } from '../../../../ui/skeleton.tsx'
import { getChannelKind } from '../../../channels/channel-kinds.tsx'

interface Props {
  selected: number[]
  onChange: (selected: number[]) => void
  /** The obstacle of a channel, in two or three words. */
  describe?: (channel: ChannelResource) => string | undefined
  error: string | undefined
}

const describeState = ({ enabled }: ChannelResource) => (enabled ? undefined : 'Off')

export function ChannelChoice({ selected, onChange, describe = describeState, error }: Props) {
  const api = useApi()
  const channels = useQuery(channelsQuery(api))
  if (channels.isError) return <ErrorState error={channels.error} retry={() => void channels.refetch()} />
  if (!channels.data) return <Skeleton className="h-16" />
  return (
    <fieldset className="grid min-w-0 grid-cols-[minmax(0,1fr)] gap-2">
      <legend className="sr-only">Channels</legend>
      {channels.data.data.map((channel) => (
        <Choice
          key={channel.id}
          channel={channel}
          problem={describe(channel)}
          checked={selected.includes(channel.id)}
          onChange={(on) =>
            onChange(on ? [...selected, channel.id] : selected.filter((id) => id !== channel.id))
          }
        />
      ))}
      {error && <p className="text-sm text-danger">{error}</p>}
      <p className="text-sm text-soft">
        {channels.data.data.length === 0 && 'No channels yet. Submissions only arrive in the inbox. '}
        <Link
          to="/$workspaceId/notifications"
          params={{ workspaceId: String(api.workspaceId) }}
          search={{ new: '1' }}
          className="font-medium text-accent underline underline-offset-2"
        >
          Create a channel
        </Link>{' '}
        for email, Slack, Discord, Telegram, Teams or a webhook.
      </p>
    </fieldset>
  )
}

interface ChoiceProps {
  channel: ChannelResource
  problem: string | undefined
  checked: boolean
  onChange: (on: boolean) => void
}

function Choice({ channel, problem, checked, onChange }: ChoiceProps) {
  const id = useId()
  return (
    <div className="flex items-center gap-3">
      <Checkbox id={id} checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <label htmlFor={id} className="min-w-0 truncate">
        {channel.name}
      </label>
      <span className="text-sm whitespace-nowrap text-soft">{getChannelKind(channel.type).label}</span>
      {problem && <Badge tone="warn">{problem}</Badge>}
    </div>
  )
}
