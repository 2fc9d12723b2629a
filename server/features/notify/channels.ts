// Every kind of channel, and how it is spoken to.

import { sendDiscord } from './channels/discord.ts'
import { sendEmail } from './channels/email.ts'
import { sendSlack } from './channels/slack.ts'
import { sendTeams } from './channels/teams.ts'
import { sendTelegram } from './channels/telegram.ts'
import { sendWebhook } from './channels/webhook.ts'
import type { Send } from './notice.ts'
import type { ChannelType } from './schema.ts'

export const sendBy: Record<ChannelType, Send> = {
  email: sendEmail,
  slack: sendSlack,
  discord: sendDiscord,
  telegram: sendTelegram,
  teams: sendTeams,
  webhook: sendWebhook,
}
