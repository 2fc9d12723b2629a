// The form state of the channel drawer, and the request that saves it.

import type { ChannelResource } from '../../../api/channels.ts'
import { findFieldError } from '../../../ui/forms/form-error.tsx'
import { type ChannelKind, isForPrograms } from '../channel-kinds.tsx'

export interface TemplateValues {
  subject: string
  text: string
}

/** The texts of the fields. */
export interface ChannelTexts {
  name: string
  to: string
  url: string
  botToken: string
  chatId: string
}

/** The forms that use the channel. */
export type ChannelUse = 'all' | 'chosen' | 'none'

/** The request of a channel of type http. */
export interface RequestValues {
  method: 'POST' | 'PUT' | 'PATCH'
  /** One `Name: value` a line. */
  headers: string
  body: string
}

export interface FilterRow {
  name: string
  value: string
}

export interface ChannelFormValues
  extends ChannelTexts,
    Pick<ChannelResource, 'digest' | 'quietHours' | 'attachUpTo' | 'events'> {
  filter: FilterRow[]
  request: RequestValues
  template: TemplateValues | null
  use: ChannelUse
  /** undefined before a choice: the forms that use it now. */
  formKeys: string[] | undefined
}

/** The API masks the URL of these types, so that the form cannot show it. */
export const isMasked = ({ type }: ChannelResource) => type !== 'webhook'

export const toFormValues = (channel?: ChannelResource): ChannelFormValues => ({
  name: channel?.name ?? '',
  to: channel?.to.join('\n') ?? '',
  url: channel && !isMasked(channel) ? (channel.url ?? '') : '',
  botToken: '',
  chatId: channel?.chatId ?? '',
  template: channel?.template ? { ...channel.template, subject: channel.template.subject ?? '' } : null,
  digest: channel?.digest ?? null,
  quietHours: channel?.quietHours ?? null,
  attachUpTo: channel?.attachUpTo ?? 0,
  events: channel?.events ?? ['submission.created'],
  filter: Object.entries(channel?.filter ?? {}).map(([name, value]) => ({ name, value })),
  request: {
    method: channel?.method ?? 'POST',
    headers: toHeaderLines(channel?.headers ?? {}),
    body: channel?.body ?? '',
  },
  use: toUse(channel),
  formKeys: undefined,
})

/** A new channel is for all forms by default, because people create one to be notified. */
function toUse(channel: ChannelResource | undefined): ChannelUse {
  if (!channel || channel.allForms) return 'all'
  return channel.forms > 0 ? 'chosen' : 'none'
}

function toUseBody({ use, formKeys }: ChannelFormValues) {
  if (use === 'all') return { allForms: true }
  if (use === 'none') return { allForms: false, formKeys: [] }
  return { allForms: false, ...(formKeys && { formKeys }) }
}

export const toHeaderLines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** A line without a colon is a name, which the API refuses with a sentence. */
function readHeaderLines(lines: string): Record<string, string> {
  const headers = lines.split('\n').filter((line) => line.trim() !== '')
  return Object.fromEntries(
    headers.map((line) => {
      const [name = '', ...rest] = line.split(':')
      return [name.trim(), rest.join(':').trim()]
    }),
  )
}

const toFilterBody = (rows: FilterRow[]) => {
  // A dash alone is a list without a choice.
  const filled = rows.filter(({ value }) => !['', '-'].includes(value.trim()))
  return filled.length === 0
    ? null
    : Object.fromEntries(filled.map(({ name, value }) => [name, value.trim()]))
}

const listAddresses = ({ to }: Pick<ChannelFormValues, 'to'>) => to.split(/[\s,;]+/).filter(Boolean)

/** The API numbers the addresses. People see which one is wrong. */
export function findAddressError(
  errors: Record<string, string>,
  values: ChannelFormValues,
): string | undefined {
  const index = Object.keys(errors)
    .map((field) => /^to[.[](\d+)/.exec(field)?.[1])
    .find((found) => found !== undefined)
  const address = index === undefined ? undefined : listAddresses(values)[Number(index)]
  return address === undefined ? findFieldError(errors, 'to') : `${address} isn’t an email address`
}

/** A hook of another chat server is not named Slack. */
function toDefaultName(kind: ChannelKind, url: string): string {
  const host = URL.parse(url)?.hostname
  return kind.others && host !== undefined && !/(^|\.)slack(-gov)?\.com$/.test(host) ? host : kind.label
}

export function toChannelBody(kind: ChannelKind, values: ChannelFormValues, editing: boolean) {
  const fields = {
    to: listAddresses(values),
    url: values.url.trim(),
    botToken: values.botToken.trim(),
    chatId: values.chatId.trim(),
  }
  const filled = kind.fields.filter((field) => !editing || fields[field].length > 0)
  return {
    name: values.name.trim() || toDefaultName(kind, fields.url),
    ...Object.fromEntries(filled.map((field) => [field, fields[field]])),
    ...(hasOwnMessages(kind) && {
      template: toTemplate(values.template),
      digest: values.digest,
      quietHours: values.quietHours,
    }),
    ...(kind.type === 'email' && { attachUpTo: values.attachUpTo }),
    ...(kind.type === 'http' && {
      method: values.request.method,
      headers: readHeaderLines(values.request.headers),
      body: values.request.body,
    }),
    ...(isForPrograms(kind) && { events: values.events }),
    filter: values.digest === null ? toFilterBody(values.filter) : null,
    ...(listensToForms(kind, values) ? toUseBody(values) : { allForms: false, formKeys: [] }),
  }
}

/** Programs read all of an event, at once. */
export const hasOwnMessages = (kind: ChannelKind) => !isForPrograms(kind)

export const listensToForms = (kind: ChannelKind, { events }: Pick<ChannelFormValues, 'events'>) =>
  !isForPrograms(kind) || events.includes('submission.created')

/** A message without its own subject gets the default subject. */
export const toTemplate = (template: TemplateValues | null) =>
  template && { subject: template.subject.trim() || null, text: template.text }
