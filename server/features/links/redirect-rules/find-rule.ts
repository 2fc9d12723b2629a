// Finds the redirect rule of a link that decides for a visitor.

import { ANY_VALUE } from '../../../lib/url-query.ts'
import type { RedirectRule, RuleConditions, RuleDevice, RuleSystem } from './schema.ts'

/** The visitor's properties that rules can use. */
export interface RuleVisitor {
  /** Milliseconds since the epoch. */
  at: number
  /** Two upper-case letters; null when unknown. */
  country: string | null
  device: RuleDevice
  os: RuleSystem | null
  /** Primary language in lower case; null when unknown. */
  language: string | null
  /** The short URL's query without `?`. */
  query: string
}

interface CompiledRule extends Omit<RuleConditions, 'after' | 'before' | 'query'> {
  after: number
  before: number
  query: [name: string, value: string][] | null
  to: string
}

/** The rules of a link as redirects need them. */
export interface CompiledRules {
  rules: readonly CompiledRule[]
  /** The properties that the rules use: a redirect reads only these. */
  asksClient: boolean
  asksLanguage: boolean
}

/** @returns null for a link without rules */
export function compileRules(stored: readonly RedirectRule[]): CompiledRules | null {
  if (stored.length === 0) return null
  const asks = (...names: (keyof RuleConditions)[]) =>
    stored.some(({ when }) => names.some((name) => when[name] !== undefined))
  return {
    // Objects of one shape, which a redirect reads twice as fast.
    rules: stored.map(({ when: { country, device, os, language, after, before, query }, to }) => ({
      country,
      device,
      os,
      language,
      after: after === undefined ? Number.NEGATIVE_INFINITY : Date.parse(after),
      before: before === undefined ? Number.POSITIVE_INFINITY : Date.parse(before),
      query: query === undefined ? null : Object.entries(query),
      to,
    })),
    asksClient: asks('device', 'os'),
    asksLanguage: asks('language'),
  }
}

/** @returns the index of the first rule that matches; -1 where none does */
export function findRule({ rules }: CompiledRules, visitor: RuleVisitor): number {
  let parameters: URLSearchParams | undefined
  const hasParameters = (wanted: readonly [string, string][]) => {
    parameters ??= new URLSearchParams(`&${visitor.query}`)
    const own = parameters
    return wanted.every(([name, value]) =>
      value === ANY_VALUE ? own.has(name) : own.getAll(name).includes(value),
    )
  }
  // A loop, because a call for each rule takes longer than its conditions. Most visitors match none.
  for (let index = 0; index < rules.length; index++) {
    const rule = rules[index] as CompiledRule
    if (
      isAmong(rule.language, visitor.language) &&
      isAmong(rule.device, visitor.device) &&
      isAmong(rule.os, visitor.os) &&
      visitor.at >= rule.after &&
      visitor.at < rule.before &&
      (rule.query === null || (visitor.query !== '' && hasParameters(rule.query))) &&
      // The look-up takes longer than all else.
      (rule.country === undefined || isAmong(rule.country, visitor.country))
    )
      return index
  }
  return -1
}

const isAmong = <T>(values: readonly T[] | undefined, value: T | null) =>
  values === undefined || (value !== null && values.includes(value))
