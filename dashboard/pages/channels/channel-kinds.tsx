// The types of channels, and the fields of each type.

import { Braces, Hash, type LucideIcon, Mail, MessagesSquare, Send, Users, Webhook } from 'lucide-react'
import type { ChannelType } from '../../api/channels.ts'

export interface ChannelKind {
  type: ChannelType
  label: string
  /** Other services that the type works with. */
  others?: string
  icon: LucideIcon
  about: string
  fields: ('to' | 'url' | 'botToken' | 'chatId')[]
  urlHint?: string
  urlExample?: string
}

export const CHANNEL_KINDS: ChannelKind[] = [
  {
    type: 'email',
    label: 'Email',
    icon: Mail,
    about: 'Sends an email for each submission. Replies go to the sender.',
    fields: ['to'],
  },
  {
    type: 'slack',
    label: 'Slack',
    others: 'Mattermost, Rocket.Chat',
    icon: Hash,
    about: 'Posts a message to a channel of Slack, Mattermost or Rocket.Chat.',
    fields: ['url'],
    urlHint:
      'In Slack: Apps, Incoming Webhooks, Add to Slack. In Mattermost and Rocket.Chat: Integrations, Incoming ' +
      'webhook (https://chat.example.com/hooks/…).',
    urlExample: 'https://hooks.slack.com/services/…',
  },
  {
    type: 'discord',
    label: 'Discord',
    icon: MessagesSquare,
    about: 'Posts a message to a Discord channel.',
    fields: ['url'],
    urlHint: 'In Discord: channel settings, Integrations, Webhooks.',
    urlExample: 'https://discord.com/api/webhooks/…',
  },
  {
    type: 'telegram',
    label: 'Telegram',
    icon: Send,
    about: 'Your bot posts a message to a Telegram chat.',
    fields: ['botToken', 'chatId'],
  },
  {
    type: 'teams',
    label: 'Teams',
    icon: Users,
    about: 'Posts a card to a Microsoft Teams channel.',
    fields: ['url'],
    urlHint: 'In Teams: Workflows, “Post to a channel when a webhook request is received”.',
    urlExample: 'https://….logic.azure.com/workflows/…',
  },
  {
    type: 'webhook',
    label: 'Webhook',
    icon: Webhook,
    about: 'Sends a signed request (Standard Webhooks) to your own service.',
    fields: ['url'],
    urlHint: 'Receives a POST request with the submission as JSON. Verify its signature with the secret.',
    urlExample: 'https://example.com/hooks/towpath',
  },
  {
    type: 'http',
    label: 'HTTP request',
    others: 'Sheets, HubSpot, Notion, Zapier, n8n …',
    icon: Braces,
    about: 'Sends a request that you write to any API, with values of the event in its body.',
    fields: ['url'],
    urlExample: 'https://api.example.com/contacts',
  },
]

/** The types that programs receive: no layout, and every event. */
export const isForPrograms = ({ type }: Pick<ChannelKind, 'type'>) => type === 'webhook' || type === 'http'

export const getChannelKind = (type: ChannelType) =>
  CHANNEL_KINDS.find((kind) => kind.type === type) as ChannelKind
