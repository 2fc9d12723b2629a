// Which channels are told of a submission.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useId } from 'react'
import type { ChannelResource } from '../../../server/features/notify/schema.ts'
import { channelChoiceQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { Checkbox } from '../../ui/forms/field.tsx'
import { ErrorState, Skeleton } from '../../ui/states.tsx'

const KIND_LABELS: Record<ChannelResource['type'], string> = {
  email: 'E-mail',
  slack: 'Slack',
  discord: 'Discord',
  telegram: 'Telegram',
  teams: 'Microsoft Teams',
  webhook: 'Webhook',
}

interface Props {
  chosen: number[]
  onChange: (chosen: number[]) => void
  error: string | undefined
}

export function ChannelChoice({ chosen, onChange, error }: Props) {
  const api = useApi()
  const channels = useQuery(channelChoiceQuery(api))
  if (channels.isError) return <ErrorState error={channels.error} retry={() => void channels.refetch()} />
  if (!channels.data) return <Skeleton className="h-16" />
  return (
    <fieldset className="grid gap-2">
      <legend className="sr-only">Channels</legend>
      {channels.data.map((channel) => (
        <Choice
          key={channel.id}
          channel={channel}
          checked={chosen.includes(channel.id)}
          onChange={(on) => onChange(on ? [...chosen, channel.id] : chosen.filter((id) => id !== channel.id))}
        />
      ))}
      {error && <p className="text-sm text-danger">{error}</p>}
      <p className="text-sm text-soft">
        {channels.data.length === 0 && 'There are no channels yet: submissions wait in the inbox. '}
        <Link
          to="/$workspaceId/channels"
          params={{ workspaceId: String(api.workspaceId) }}
          search={{ new: '1' }}
          className="font-medium text-accent underline underline-offset-2"
        >
          Make a channel
        </Link>{' '}
        for e-mail, Slack, Discord, Telegram, Teams or a webhook.
      </p>
    </fieldset>
  )
}

interface ChoiceProps {
  channel: ChannelResource
  checked: boolean
  onChange: (on: boolean) => void
}

function Choice({ channel, checked, onChange }: ChoiceProps) {
  const id = useId()
  return (
    <div className="flex items-center gap-3">
      <Checkbox id={id} checked={checked} onChange={(event) => onChange(event.target.checked)} />
      <label htmlFor={id} className="min-w-0 truncate">
        {channel.name}
      </label>
      <span className="text-sm whitespace-nowrap text-soft">{KIND_LABELS[channel.type]}</span>
      {!channel.enabled && <Badge tone="warn">Switched off</Badge>}
    </div>
  )
}
