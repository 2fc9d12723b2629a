// The sender of each channel type.

import type { ChannelType } from '../schema.ts'
import type { ChannelSender } from './contract.ts'
import { sendDiscord } from './discord.ts'
import { sendEmail } from './email.ts'
import { sendHttp } from './http.ts'
import { sendSlack } from './slack.ts'
import { sendTeams } from './teams.ts'
import { sendTelegram } from './telegram.ts'
import { sendWebhook } from './webhook.ts'

export const channelSenders: Record<ChannelType, ChannelSender> = {
  email: sendEmail,
  slack: sendSlack,
  discord: sendDiscord,
  telegram: sendTelegram,
  teams: sendTeams,
  webhook: sendWebhook,
  http: sendHttp,
}
