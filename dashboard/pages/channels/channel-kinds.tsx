// What kinds of channels there are, and what each asks for.

import { Hash, type LucideIcon, Mail, MessagesSquare, Send, Users, Webhook } from 'lucide-react'
import type { ChannelType } from '../../api/channels.ts'

export interface ChannelKind {
  type: ChannelType
  label: string
  icon: LucideIcon
  about: string
  fields: ('to' | 'url' | 'botToken' | 'chatId')[]
  urlHint?: string
  urlExample?: string
}

export const CHANNEL_KINDS: ChannelKind[] = [
  {
    type: 'email',
    label: 'E-mail',
    icon: Mail,
    about: 'Each submission as a mail; answering it answers the sender.',
    fields: ['to'],
  },
  {
    type: 'slack',
    label: 'Slack',
    icon: Hash,
    about: 'A message in a channel.',
    fields: ['url'],
    urlHint: 'In Slack: Apps, Incoming Webhooks, Add to Slack.',
    urlExample: 'https://hooks.slack.com/services/…',
  },
  {
    type: 'discord',
    label: 'Discord',
    icon: MessagesSquare,
    about: 'A message in a channel.',
    fields: ['url'],
    urlHint: 'In Discord: channel settings, Integrations, Webhooks.',
    urlExample: 'https://discord.com/api/webhooks/…',
  },
  {
    type: 'telegram',
    label: 'Telegram',
    icon: Send,
    about: 'A message of your bot in a chat.',
    fields: ['botToken', 'chatId'],
  },
  {
    type: 'teams',
    label: 'Teams',
    icon: Users,
    about: 'A card in a channel of Microsoft Teams.',
    fields: ['url'],
    urlHint: 'In Teams: Workflows, “Post to a channel when a webhook request is received”.',
    urlExample: 'https://….logic.azure.com/workflows/…',
  },
  {
    type: 'webhook',
    label: 'Webhook',
    icon: Webhook,
    about: 'A signed request (Standard Webhooks) to your own service.',
    fields: ['url'],
    urlHint: 'Gets a POST with the submission as JSON. Check its signature with the secret.',
    urlExample: 'https://example.com/hooks/towpath',
  },
]

export const getChannelKind = (type: ChannelType) =>
  CHANNEL_KINDS.find((kind) => kind.type === type) as ChannelKind
