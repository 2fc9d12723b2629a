// Checks a submission against the rules of its form. Each rule that it breaks is a sentence for people.

import { trimEnd } from '../../../lib/clean-text.ts'
import { createPacer } from '../../../lib/concurrency/next-turn.ts'
import { toEmailAddress } from '../../../lib/email.ts'
import { quote } from '../../../lib/text.ts'
import { toAsciiHost } from '../../../lib/web-url.ts'
import { findLinks, normalizeHost } from './find-links.ts'
import { foldWords, toWordPattern } from './fold-words.ts'
import { compilePatterns, type PatternMatcher, type TextPattern } from './pattern-matcher.ts'
import type { SpamSettings } from './schema.ts'

export interface RuledForm {
  spam: SpamSettings
  /** Links in a field of the type `url` are expected, so they are not counted. */
  rules?: Record<string, { type?: string | null }>
}

interface CompiledRules {
  words: PatternMatcher | undefined
  emails: PatternMatcher | undefined
  domains: PatternMatcher | undefined
}

/** A list of reasons is for people: more rules than these are not named. */
const REASONS_OF_KIND = 3
/** Longer texts are cut in a reason. */
const SHOWN_MAX = 60

const compiled = new WeakMap<SpamSettings, Promise<CompiledRules>>()

/** Compiles the rules once: a form's settings are one value until they change. */
function compileRules(spam: SpamSettings): Promise<CompiledRules> {
  const known = compiled.get(spam)
  if (known) return known
  const made = compileAll(spam)
  compiled.set(spam, made)
  return made
}

async function compileAll({ words, emails, domains }: SpamSettings): Promise<CompiledRules> {
  return {
    words: await compile(words, (rule) => [toWordPattern(rule)]),
    emails: await compile(emails, toAddressPatterns),
    domains: await compile(domains, toDomainPatterns),
  }
}

async function compile(rules: string[], toPatterns: (rule: string) => string[]) {
  const patterns: TextPattern[] = rules.flatMap((rule) =>
    toPatterns(rule)
      .filter((text) => text !== '')
      .map((text) => ({ text: withoutOuterStars(text), rule })),
  )
  return patterns.length === 0 ? undefined : compilePatterns(patterns)
}

/** A star at an end only says that the word continues. */
const withoutOuterStars = (pattern: string) => pattern.replace(/^ \*+/, '').replace(/\*+ $/, '')

/** `@spam.example` is short for `*@spam.example`. */
function toAddressPatterns(rule: string): string[] {
  const at = rule.lastIndexOf('@') + 1
  const ascii = at === 0 || rule.includes('*', at) ? '' : toAsciiHost(rule.slice(at))
  const address = ascii === '' ? rule : rule.slice(0, at) + ascii
  return [` ${rule.startsWith('@') ? '*' : ''}${address.toLowerCase()} `]
}

/** A domain covers its subdomains; `*.example` covers them alone. */
function toDomainPatterns(rule: string): string[] {
  const labels = trimEnd(rule.toLowerCase(), '.')
  const domain = labels.includes('*') ? labels : normalizeHost(labels)
  if (domain === '') return []
  return domain.startsWith('*') ? [` ${domain} `] : [` ${domain} `, `.${domain} `]
}

/** @returns the reasons; empty where the submission keeps all rules */
export async function checkRules(form: RuledForm, fields: Map<string, string>): Promise<string[]> {
  const { words, emails, domains } = await compileRules(form.spam)
  const pace = createPacer()
  const reasons = { words: [] as string[], senders: [] as string[], domains: [] as string[] }
  const links = { count: 0, fields: new Set<string>() }
  for (const [name, value] of fields) {
    const address = toEmailAddress(value)
    if (words)
      for (const { rule, found } of await words.find(foldWords(value), REASONS_OF_KIND))
        reasons.words.push(
          `The word ${show(found)} in the field ${show(name)} is on the list of this form${differs(found, rule)}.`,
        )
    if (emails && address !== undefined)
      for (const { rule } of await emails.find(` ${address.toLowerCase()} `, REASONS_OF_KIND))
        reasons.senders.push(
          `The address ${cut(address)} in the field ${show(name)} is on the list of this form${differs(address, rule)}.`,
        )
    const { hosts, count } = await readHosts(value, address, pace)
    if (domains && hosts.size > 0)
      for (const { rule, found } of await domains.find(` ${[...hosts].join(' ')} `, REASONS_OF_KIND))
        reasons.domains.push(
          `The domain ${cut(found)} in the field ${show(name)} is on the list of this form${differs(found, rule)}.`,
        )
    if (count > 0 && form.rules?.[name]?.type !== 'url') {
      links.count += count
      links.fields.add(show(name))
    }
    await pace()
  }
  return [
    ...[reasons.senders, reasons.domains, reasons.words].flatMap((all) => all.slice(0, REASONS_OF_KIND)),
    ...describeLinks(form.spam.maxLinks, links),
  ]
}

async function readHosts(text: string, address: string | undefined, pace: ReturnType<typeof createPacer>) {
  const hosts = new Set<string>()
  if (address !== undefined) hosts.add(address.slice(address.lastIndexOf('@') + 1).toLowerCase())
  let count = 0
  for (const { host } of findLinks(text)) {
    count++
    if (host !== '') hosts.add(host)
    await pace()
  }
  return { hosts, count }
}

function describeLinks(
  max: number | null,
  { count, fields }: { count: number; fields: Set<string> },
): string[] {
  if (max === null || count <= max) return []
  const [first] = fields
  const where = fields.size === 1 ? `The field ${first} has` : `The ${fields.size} fields with links have`
  return [`${where} ${count} ${count === 1 ? 'link' : 'links'}; this form allows ${max}.`]
}

const cut = (text: string) => (text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text)
const show = (text: string) => quote(cut(text))
/** Names the rule when it differs from the matched text. */
const differs = (found: string, rule: string) => (found === rule.toLowerCase() ? '' : ` (${show(rule)})`)
