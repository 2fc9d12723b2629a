// Converts Shlink's redirect rules to rules of links, in their order. A rule with an unsupported condition, such as a city or an
// address, is left out and named.

import { isCleanText } from '../../../../lib/text.ts'
import { ANY_VALUE } from '../../../../lib/url-query.ts'
import { type RedirectRule, RULES_MAX, type RuleConditions } from '../../../links/redirect-rules/schema.ts'
import { type FieldReader, isTextValue } from '../../files/fields.ts'
import type { SourceLink } from '../source.ts'

interface ReadRules extends Pick<SourceLink, 'deviceTargeting' | 'left'> {
  /** null without any. */
  rules: RedirectRule[] | null
}

type Systems = NonNullable<RuleConditions['os']>

const SYSTEMS: Record<string, Systems> = {
  android: ['android'],
  ios: ['ios'],
  mobile: ['ios', 'android'],
  windows: ['windows'],
  macos: ['macos'],
  linux: ['linux'],
  chromeos: ['chromeos'],
}

interface Rule {
  longUrl: string
  priority: number
  conditions: { type: string; matchKey: string | null; matchValue: string | null }[]
}

export function readRedirectRules(fields: FieldReader): ReadRules {
  const left: string[] = []
  const value = fields.raw('redirectRules')
  if (value !== undefined && value !== null && !Array.isArray(value))
    fields.add('redirectRules', value, 'This must be a list of rules. Export the file again.')
  const list: unknown[] = Array.isArray(value) ? value : []
  if (list.length === 0 && fields.flag('hasRedirectRules'))
    left.push('redirect rules, which are not in this file')
  const rules: RedirectRule[] = []
  for (const rule of toRules(fields, list).sort((a, b) => a.priority - b.priority)) {
    const when = rules.length < RULES_MAX ? toConditions(rule.conditions) : null
    if (when) rules.push({ when, to: rule.longUrl })
    else left.push(`a redirect rule (${describe(rule)}) to ${rule.longUrl}`)
  }
  return { rules: rules.length === 0 ? null : rules, deviceTargeting: readDeviceUrls(fields), left }
}

function toRules(fields: FieldReader, list: unknown[]): Rule[] {
  const rules: Rule[] = []
  for (const [index, value] of list.entries()) {
    const rule = toRule(value, index)
    if (rule) rules.push(rule)
    else
      fields.add(
        'redirectRules',
        value,
        `Rule ${index + 1} has no URL or no conditions. Export the file again.`,
      )
  }
  return rules
}

function toRule(value: unknown, index: number): Rule | null {
  if (typeof value !== 'object' || value === null) return null
  const { longUrl, priority, conditions } = value as Record<string, unknown>
  if (!isTextValue(longUrl) || longUrl === '' || !Array.isArray(conditions)) return null
  if (conditions.some((condition) => typeof condition !== 'object' || condition === null)) return null
  return {
    longUrl,
    priority: typeof priority === 'number' ? priority : index,
    conditions: conditions.map(({ type, matchKey, matchValue }) => ({
      type: toText(type) ?? '',
      matchKey: toText(matchKey),
      matchValue: toText(matchValue),
    })),
  }
}

const toText = (value: unknown) => (isTextValue(value) ? value : null)

const describe = ({ conditions }: Rule) => conditions.map(toWords).join(' and ') || 'no condition'

/** @returns null if a condition is not supported, or two conditions are of the same kind */
function toConditions(conditions: Rule['conditions']): RuleConditions | null {
  const when: RuleConditions = {}
  for (const condition of conditions) {
    const added = toCondition(condition, when)
    if (added === null) return null
    Object.assign(when, added)
  }
  return Object.keys(when).length === 0 ? null : when
}

/** @param when the previous conditions */
function toCondition(
  { type, matchKey, matchValue }: Rule['conditions'][number],
  when: RuleConditions,
): RuleConditions | null {
  const value = matchValue ?? ''
  switch (type) {
    case 'device':
      return toDevice(value, when)
    case 'language':
      // A language of one country (`es-AR`) is not supported.
      return /^[a-z]{2,3}$/i.test(value) && !when.language ? { language: [value.toLowerCase()] } : null
    case 'geolocation-country-code':
      return /^[a-z]{2}$/i.test(value) && !when.country ? { country: [value.toUpperCase()] } : null
    case 'query-param':
      return value === ANY_VALUE ? null : addParameter(matchKey, value, when)
    case 'any-value-query-param':
      return addParameter(matchKey, ANY_VALUE, when)
    case 'valueless-query-param':
      return addParameter(matchKey, '', when)
    case 'before-date':
      return when.before ? null : toTime('before', value)
    case 'after-date':
      return when.after ? null : toTime('after', value)
    default:
      return null
  }
}

function toDevice(value: string, { device, os }: RuleConditions): RuleConditions | null {
  if (value === 'desktop') return device ? null : { device: ['desktop'] }
  const systems = Object.hasOwn(SYSTEMS, value) ? SYSTEMS[value] : undefined
  const both = systems?.filter((system) => !os || os.includes(system)) ?? []
  return both.length === 0 ? null : { os: both }
}

const NAME_MAX = 100
const VALUE_MAX = 256
const PARAMETERS_MAX = 10

function addParameter(
  name: string | null,
  value: string,
  { query = {} }: RuleConditions,
): RuleConditions | null {
  const isKept =
    name !== null &&
    name !== '' &&
    name !== '__proto__' &&
    name.length <= NAME_MAX &&
    value.length <= VALUE_MAX &&
    isCleanText(name + value) &&
    !Object.hasOwn(query, name) &&
    Object.keys(query).length < PARAMETERS_MAX
  return isKept ? { query: Object.fromEntries([...Object.entries(query), [name, value]]) } : null
}

function toTime(name: 'before' | 'after', value: string): RuleConditions | null {
  const at = /^\d{4}-\d\d-\d\dT/.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? null : { [name]: new Date(at).toISOString() }
}

const toWords = ({ type, matchKey, matchValue }: Rule['conditions'][number]) =>
  [type.replaceAll('-', ' '), matchKey, matchValue].filter((word) => word !== null && word !== '').join(' ')

/** Shlink 3.5 to 3.7 had one URL per device instead of rules. */
function readDeviceUrls(fields: FieldReader): SourceLink['deviceTargeting'] {
  const targets: SourceLink['deviceTargeting'] = {}
  const value = fields.raw('deviceLongUrls')
  if (typeof value !== 'object' || value === null) return targets
  for (const device of ['android', 'ios', 'desktop'] as const) {
    const url = (value as Record<string, unknown>)[device]
    if (isTextValue(url) && url !== '') targets[device] = url
  }
  return targets
}
