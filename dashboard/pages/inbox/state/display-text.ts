// The texts of a submission in a list: sender, preview and source.

import type { Submission } from '../../../api/submissions.ts'

const NAME = /^(your[-_ ]?|full[-_ ]?)?name$/i
const FIRST = /^(first|given)[-_ ]?name$/i
const LAST = /^(last|family|sur)[-_ ]?name$/i

const NAME_PART = /^(first|given|last|family|sur)[-_ ]?name$/i

const findField = (submission: Submission, name: RegExp) =>
  Object.entries(submission.fields)
    .find(([field, value]) => name.test(field) && value.trim() !== '')?.[1]
    .trim()

export function toSenderName(submission: Submission): string {
  const parts = [findField(submission, FIRST), findField(submission, LAST)].filter(Boolean).join(' ')
  const name =
    findField(submission, NAME) ||
    parts ||
    submission.email?.trim() ||
    Object.values(submission.fields).find((value) => value.trim() !== '')
  return (name ?? 'Empty submission').trim().slice(0, 200)
}

const MESSAGE =
  /^(your|the)?[-_ ]?(message|comments?|question|enquiry|inquiry|feedback|description|details|body|text|notes?|request|wishes|nachricht|anfrage|mensaje|mensagem|bericht)$/i

/** Two tests, because one pattern for both takes seconds for a long text of a sender. */
const isWebAddress = (text: string) => !/\s/.test(text) && /@|:\/\/|www\./i.test(text)

/** The message: the field that is named so, else the longest value with several words, else the longest one. */
export function findMessage(submission: Submission): string | undefined {
  const sender = toSenderName(submission)
  const values = Object.entries(submission.fields)
    .map(([name, value]) => ({ name, value: value.trim() }))
    .filter(({ value }) => value !== '' && value !== sender && value !== submission.email)
  const longest = (some: typeof values) =>
    some.reduce<string | undefined>(
      (long, { value }) => (value.length > (long ?? '').length ? value : long),
      undefined,
    )
  return (
    longest(values.filter(({ name }) => MESSAGE.test(name))) ??
    longest(values.filter(({ value }) => /\s/.test(value))) ??
    longest(values.filter(({ name, value }) => !NAME_PART.test(name) && !isWebAddress(value)))
  )
}

/** The message and then the other values, in one line. The sender's name and address are shown above it. */
export function toPreviewText(submission: Submission): string {
  const sender = toSenderName(submission)
  const message = findMessage(submission)
  const others = Object.entries(submission.fields)
    .filter(([name]) => !NAME_PART.test(name))
    .map(([, value]) => value.trim())
    .filter((value) => value !== '' && value !== sender && value !== submission.email && value !== message)
  return [...(message === undefined ? [] : [message]), ...others].join(' · ').slice(0, 300)
}

/** The campaign; without a campaign the referrer. */
export const toSourceText = ({ utmSource, utmCampaign, referrer }: Submission) =>
  [utmSource, utmCampaign].filter(Boolean).join(' / ') || (referrer ?? '')

/** The link that brought the submission, and whether that is certain; empty without a link. */
export function toLinkText({ attribution, linkId, link }: Submission): string {
  if (attribution === 'pending') return 'Link not decided yet'
  if (linkId === null) return ''
  const name = link ? `/${link.slug}` : 'Deleted link'
  return attribution === 'inferred' ? `${name} (inferred)` : name
}

export const STATUS_LABELS = {
  new: 'Unread',
  read: 'Read',
  archived: 'Archived',
  spam: 'Spam',
  unconfirmed: 'Not confirmed',
} as const

/** The text, if it is a web address. Visitors write these texts, so no other scheme may become a link. */
export const findWebUrl = (text: string | null): string | undefined => {
  if (!text || !/^https?:\/\/\S+$/i.test(text.trim())) return undefined
  return URL.canParse(text.trim()) ? text.trim() : undefined
}
