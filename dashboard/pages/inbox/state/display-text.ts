// What a submission is called in a list: who wrote, and how it begins.

import type { Submission } from '../../../api/submissions.ts'

const NAME = /^(your[-_ ]?|full[-_ ]?)?name$/i
const FIRST = /^(first|given)[-_ ]?name$/i
const LAST = /^(last|family|sur)[-_ ]?name$/i

const findField = (submission: Submission, name: RegExp) =>
  Object.entries(submission.fields)
    .find(([field, value]) => name.test(field) && value.trim() !== '')?.[1]
    .trim()

export function toSenderName(submission: Submission): string {
  const parts = [findField(submission, FIRST), findField(submission, LAST)].filter(Boolean).join(' ')
  const said =
    findField(submission, NAME) ||
    parts ||
    submission.email?.trim() ||
    Object.values(submission.fields).find((value) => value.trim() !== '')
  return (said ?? 'Nothing was filled in').trim().slice(0, 200)
}

/** The rest in one line; the longest value says most, and comes first. */
export function toPreviewText(submission: Submission): string {
  const who = toSenderName(submission)
  const values = Object.values(submission.fields)
    .map((value) => value.trim())
    .filter((value) => value !== '' && value !== who && value !== submission.email)
  const longest = values.reduce((long, value) => (value.length > long.length ? value : long), '')
  return [longest, ...values.filter((value) => value !== longest)].join(' · ').slice(0, 300)
}

/** The campaign, or else the site: as short as it can be said. */
export const toSourceText = ({ utmSource, utmCampaign, referrer, attribution, linkId }: Submission) =>
  [utmSource, utmCampaign].filter(Boolean).join(' / ') || referrer || linkWords(attribution, linkId)

function linkWords(attribution: Submission['attribution'], linkId: number | null): string {
  if (attribution === 'pending') return 'link not decided yet'
  if (linkId === null) return ''
  return attribution === 'inferred' ? 'link (inferred)' : 'link'
}

export const STATUS_LABELS = { new: 'Unread', read: 'Read', archived: 'Archived', spam: 'Spam' } as const

/** From a stranger: only what a browser opens as a page is made a link. */
export const findWebUrl = (text: string | null): string | undefined => {
  if (!text || !/^https?:\/\/\S+$/i.test(text.trim())) return undefined
  return URL.canParse(text.trim()) ? text.trim() : undefined
}
