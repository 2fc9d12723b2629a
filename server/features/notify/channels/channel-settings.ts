// The settings of each channel type, and the shape of each service's addresses. The check is strict, so that a person
// notices a mistake at once and not days later in the list of deliveries. Says too what this server cannot send to.

import type { Selectable } from 'kysely'
import { hasRefusedHost, PRIVATE_ADDRESS } from '../../../http/address-policy.ts'
import { invalid } from '../../../lib/failure.ts'
import { checkUrl, parseUrl } from '../../../lib/web-url.ts'
import type { Channels } from '../../../storage/database/tables/notify-tables.ts'
import { type Actor, requireScopes } from '../../accounts/access/actor.ts'
import {
  type ChannelEvent,
  EVENT_SCOPES,
  isWorkspaceEvent,
  parseChannelEvents,
  SUBMISSION_EVENT,
} from '../events/channel-events.ts'
import { type ChannelFilter, findFilterMistakes } from '../events/channel-filter.ts'
import { findHttpMistakes } from '../http-body/http-settings.ts'
import { hideHeaders, type RequestHeaders } from '../http-body/request-headers.ts'
import type { ChannelType, UpdateChannelInput } from '../schema.ts'
import { CHANNEL_URL_MAX } from './channel-types.ts'
import type { SendNeeds } from './contract.ts'

const FIELD_NAMES = ['to', 'url', 'botToken', 'chatId', 'method', 'headers', 'body'] as const
type Field = (typeof FIELD_NAMES)[number]
const LAYOUT_FIELDS = ['template', 'digest', 'quietHours'] as const
export type ChannelSettings = Pick<
  UpdateChannelInput,
  Field | (typeof LAYOUT_FIELDS)[number] | 'attachUpTo' | 'events' | 'filter'
>

/** The types that programs receive: their messages have no layout, and they take every event. */
const FOR_PROGRAMS: ChannelType[] = ['webhook', 'http']

const OPTIONAL: Field[] = ['method', 'headers']
const FIELDS: Record<ChannelType, Field[]> = {
  email: ['to'],
  slack: ['url'],
  discord: ['url'],
  telegram: ['botToken', 'chatId'],
  teams: ['url'],
  webhook: ['url'],
  http: ['url', 'body', ...OPTIONAL],
}

/** The abilities of this server for channels. */
export type ServerAbilities = Pick<SendNeeds, 'allow' | 'smtpUrl'>

const NO_MAIL =
  'this server has no mail server. Its operator can set one up with SMTP_URL and MAIL_FROM, and restart the server'
/** For a request that names the type, or switches an email channel on. */
const MAIL_REFUSAL = `email is not available: ${NO_MAIL}`

/**
 * Why this server cannot send to a channel; null where it can. A private address is no mistake of the person who typed
 * it: the operator may allow it later. Names are judged when they are looked up.
 */
export function findUnavailableReason(
  { type, shown_url: url }: Pick<Selectable<Channels>, 'type' | 'shown_url'>,
  { smtpUrl, allow }: ServerAbilities,
): string | null {
  if (type === 'email' && smtpUrl === undefined) return `Email is not sent: ${NO_MAIL}`
  // An import of an earlier release may have stored any text.
  const shown = url === null ? null : parseUrl(url)
  return shown && hasRefusedHost(shown, allow) ? PRIVATE_ADDRESS : null
}

/** @param field the field that asks for the type. @throws Failure `invalid` */
export function requireMailServer(type: string, { smtpUrl }: ServerAbilities, field: 'type' | 'enabled') {
  if (type === 'email' && smtpUrl === undefined) throw invalid({ [field]: MAIL_REFUSAL })
}

/**
 * @param all whether every setting of the type is required, as for a new channel
 * @returns the settings as they are stored. @throws Failure `invalid`
 */
export function parseChannelSettings(
  type: ChannelType,
  input: ChannelSettings,
  all: boolean,
): ChannelSettings {
  const errors: Record<string, string> = {}
  for (const field of FIELD_NAMES) {
    const known = FIELDS[type].includes(field)
    if (!known && input[field] !== undefined) errors[field] = `is not for channels of type ${type}`
    if (known && all && input[field] === undefined && !OPTIONAL.includes(field))
      errors[field] = `is required for channels of type ${type}`
  }
  for (const field of LAYOUT_FIELDS) {
    if (FOR_PROGRAMS.includes(type) && input[field] !== undefined && input[field] !== null)
      errors[field] = `is not for channels of type ${type}`
  }
  const other = FOR_PROGRAMS.includes(type) ? undefined : input.events?.find(isWorkspaceEvent)
  if (other) errors.events = `${other} is for channels of type ${FOR_PROGRAMS.join(' and ')}`
  if (type !== 'email' && input.attachUpTo) errors.attachUpTo = `is not for channels of type ${type}`
  const settings = { ...input, to: input.to && [...new Set(input.to)] }
  if (input.url !== undefined && !errors.url) {
    const checked = checkUrl(input.url, { schemes: [] })
    if ('wrong' in checked) errors.url = checked.wrong
    else if (checked.href.length > CHANNEL_URL_MAX)
      errors.url = `must be at most ${CHANNEL_URL_MAX} characters`
    else {
      const wrong = URL_CHECKS[type]?.(new URL(checked.href))
      if (wrong) errors.url = wrong
      settings.url = checked.href
    }
  }
  if (input.botToken !== undefined && !errors.botToken && !BOT_TOKEN.test(input.botToken))
    errors.botToken = "must be a bot's token, such as 123456789:AAE… from @BotFather"
  if (input.chatId !== undefined && !errors.chatId && !CHAT_ID.test(input.chatId))
    errors.chatId = 'must be the number of a chat, such as -1001234567890, or the @name of a channel'
  if (Object.keys(errors).length > 0) throw invalid(errors)
  return settings
}

// The part before the colon is the bot's number. Telegram documents no lengths: these are the observed ones, and more.
const BOT_TOKEN = /^\d{6,20}:[A-Za-z0-9_-]{30,100}$/
const CHAT_ID = /^(-?[1-9]\d{0,19}|@[A-Za-z]\w{3,31})$/

const SLACK_HOSTS = ['hooks.slack.com', 'hooks.slack-gov.com']
const SLACK_HOOK = /^\/services\/\w+\/\w+\/\w+$/
// Mattermost has one part of 26 characters after `hooks`, and Rocket.Chat an id of 17 to 24 and a token. Both can be
// below a path of their host.
const COMPATIBLE_HOOK = /^(\/[\w.~-]+)*\/hooks\/[\w-]{16,100}(\/[\w-]{16,100})?$/

/** True for a hook of another chat server that takes Slack's incoming webhooks. */
export const isSlackCompatible = ({ hostname, pathname }: URL) =>
  !SLACK_HOSTS.includes(hostname) && COMPATIBLE_HOOK.test(pathname)

const DISCORD_HOSTS = ['discord.com', 'discordapp.com', 'ptb.discord.com', 'canary.discord.com']
const TEAMS_HOSTS =
  /\.(logic\.azure\.com|api\.powerautomate\.com|api\.powerplatform\.com|flow\.microsoft\.com)$/
// Microsoft has retired the connectors of Office 365
// (https://devblogs.microsoft.com/microsoft365dev/retirement-of-office-365-connectors-within-microsoft-teams/).
const RETIRED_TEAMS = /(^|\.)webhook\.office(365)?\.com$|^outlook\.office(365)?\.com$/

/** An https address with the default port. */
const isPlain = (url: URL) => url.protocol === 'https:' && url.port === ''

/** Finds the mistake in an address; undefined where it is an address of the service. */
const URL_CHECKS: Partial<Record<ChannelType, (url: URL) => string | undefined>> = {
  slack: (url) => {
    const isSlack = isPlain(url) && SLACK_HOSTS.includes(url.hostname) && SLACK_HOOK.test(url.pathname)
    return isSlack || isSlackCompatible(url)
      ? undefined
      : 'must be an incoming webhook of Slack (https://hooks.slack.com/services/…), or of Mattermost or Rocket.Chat ' +
          '(https://chat.example.com/hooks/…)'
  },
  discord: (url) =>
    isPlain(url) &&
    DISCORD_HOSTS.includes(url.hostname) &&
    /^\/api\/(v\d+\/)?webhooks\/\d+\/[\w-]+$/.test(url.pathname)
      ? undefined
      : 'must be a webhook of Discord: https://discord.com/api/webhooks/…',
  teams: (url) => {
    if (RETIRED_TEAMS.test(url.hostname))
      return 'is a connector of Office 365, which Teams no longer has: make a Workflow that posts webhooks to a channel'
    const isWorkflow =
      url.protocol === 'https:' && ['', '443'].includes(url.port) && TEAMS_HOSTS.test(url.hostname)
    return isWorkflow ? undefined : 'must be the address of a Workflow of Teams: https://….logic.azure.com/…'
  },
}

/** The columns of what a channel says and when; those that the input names. */
export function toLayoutColumns(settings: ChannelSettings) {
  const { template, digest, quietHours, attachUpTo, events, filter, method, headers, body } = settings
  const toJson = (value: object | null) => (value === null ? null : JSON.stringify(value))
  return {
    ...(events !== undefined && { events: isDefault(events) ? null : toJson(events) }),
    ...(filter !== undefined && {
      filter: filter && Object.keys(filter).length > 0 ? toJson(filter) : null,
    }),
    ...(method !== undefined && { method }),
    ...(headers !== undefined && { headers: JSON.stringify(hideHeaders(headers)) }),
    ...(body !== undefined && { body }),
    ...(template !== undefined && {
      template: toJson(template && { subject: template.subject ?? null, text: template.text }),
    }),
    ...(digest !== undefined && { digest }),
    ...(quietHours !== undefined && { quiet_hours: toJson(quietHours) }),
    ...(attachUpTo !== undefined && { attach_up_to: attachUpTo ?? 0 }),
  }
}

const isDefault = (events: ChannelEvent[] | null) =>
  events === null || (events.length === 1 && events[0] === SUBMISSION_EVENT)

/** A channel as it will be after a change, for the checks that need several settings. */
export interface ChannelAsSaved extends Pick<Selectable<Channels>, 'events' | 'filter' | 'digest' | 'body'> {
  type: ChannelType
  /** Of a channel of type http. */
  requestHeaders: RequestHeaders
}

/** @throws Failure `invalid` */
export function requireFittingSettings(channel: ChannelAsSaved): void {
  const events = parseChannelEvents(channel)
  const filter: ChannelFilter = channel.filter === null ? {} : JSON.parse(channel.filter)
  const errors = findFilterMistakes(filter, events)
  if (channel.filter !== null && channel.digest !== null)
    errors.filter = 'must be null for a channel with a digest'
  if (channel.type === 'http' && channel.body !== null)
    Object.assign(errors, findHttpMistakes({ headers: channel.requestHeaders, body: channel.body }, events))
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

/** A key that may not read what the events say must not have them sent. @throws Failure `forbidden` */
export function requireEventScopes(actor: Actor, { events }: Pick<ChannelSettings, 'events'>): void {
  requireScopes(actor, ...new Set(events?.filter(isWorkspaceEvent).map((event) => EVENT_SCOPES[event])))
}

/** The address as answers show it. Anybody who knows a chat's address can post there, so only its end is shown. */
export const maskUrl = (type: ChannelType, url: string) =>
  type === 'webhook' ? url : `${new URL(url).origin}/…${url.slice(-4)}`
