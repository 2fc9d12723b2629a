// A redirect rule while it is edited: the texts in its fields, and the rule that they become.

import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { toIso, toLocal } from '../../../ui/forms/local-time.ts'
import { withScheme } from './destination-url.ts'

type RedirectRule = LinkResource['rules'][number]
export type RuleDevice = NonNullable<RedirectRule['when']['device']>[number]
export type RuleSystem = NonNullable<RedirectRule['when']['os']>[number]

export interface RuleDraft {
  /** Identifies the rule while it moves. */
  key: number
  to: string
  /** Codes with commas between them, as in the next field. */
  country: string
  language: string
  device: RuleDevice[]
  os: RuleSystem[]
  /** `ref=partner&vip=*` */
  query: string
  /** The format of `<input type=datetime-local>`, in the viewer's time zone. */
  after: string
  before: string
}

let lastKey = 0

export function createRuleDraft({ when, to }: RedirectRule = { when: {}, to: '' }): RuleDraft {
  return {
    key: ++lastKey,
    to,
    country: when.country?.join(', ') ?? '',
    language: when.language?.join(', ') ?? '',
    device: when.device ?? [],
    os: when.os ?? [],
    query: new URLSearchParams(when.query).toString().replaceAll('%2A', '*'),
    after: toLocal(when.after ?? null),
    before: toLocal(when.before ?? null),
  }
}

const toList = (text: string) =>
  text
    .split(/[\s,;]+/)
    .filter((part) => part !== '')
    .map((part) => part.trim())

/** Only the conditions that are set. */
export function toRule({ to, country, language, device, os, query, after, before }: RuleDraft): RedirectRule {
  const all = {
    country: toList(country.toUpperCase()),
    device,
    os,
    language: toList(language.toLowerCase()),
    query: Object.fromEntries(new URLSearchParams(`&${query.trim().replace(/^\?/, '')}`)),
    after: toIso(after) ?? undefined,
    before: toIso(before) ?? undefined,
  }
  const when = Object.fromEntries(
    Object.entries(all).filter(([, value]) => value !== undefined && Object.keys(value).length > 0),
  )
  return { when, to: withScheme(to) }
}
