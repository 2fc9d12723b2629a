// The form state of the channel drawer, and the request that saves it.

import type { ChannelResource } from '../../../api/channels.ts'
import { findFieldError } from '../../../ui/forms/form-error.tsx'
import type { ChannelKind } from '../channel-kinds.tsx'

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

/** Which forms use the channel. */
export type ChannelUse = 'all' | 'chosen' | 'none'

export interface ChannelFormValues
  extends ChannelTexts,
    Pick<ChannelResource, 'digest' | 'quietHours' | 'attachUpTo'> {
  template: TemplateValues | null
  use: ChannelUse
  /** undefined until somebody chooses: the forms that use it now. */
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
  use: toUse(channel),
  formKeys: undefined,
})

/** A new channel is for all forms: whoever makes one wants to hear of something. */
function toUse(channel: ChannelResource | undefined): ChannelUse {
  if (!channel || channel.allForms) return 'all'
  return channel.forms > 0 ? 'chosen' : 'none'
}

function toUseBody({ use, formKeys }: ChannelFormValues) {
  if (use === 'all') return { allForms: true }
  if (use === 'none') return { allForms: false, formKeys: [] }
  return { allForms: false, ...(formKeys && { formKeys }) }
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
    ...toUseBody(values),
  }
}

/** A webhook's body is the same for every program that reads it, and is sent at once. */
export const hasOwnMessages = ({ type }: ChannelKind) => type !== 'webhook'

/** Without a subject of its own, a message has the subject that it would have without a template. */
export const toTemplate = (template: TemplateValues | null) =>
  template && { subject: template.subject.trim() || null, text: template.text }
