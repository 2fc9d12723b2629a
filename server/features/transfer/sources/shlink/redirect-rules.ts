// Shlink's redirect rules as targets by device and by country. A rule with another condition, or with two, has no place
// here.

import { type FieldReader, isTextValue } from '../../files/fields.ts'
import type { SourceLink } from '../source.ts'

type Targets = Pick<SourceLink, 'geoTargeting' | 'deviceTargeting' | 'left'>
type Device = keyof SourceLink['deviceTargeting']

const DEVICES: Record<string, Device[]> = {
  android: ['android'],
  ios: ['ios'],
  mobile: ['ios', 'android'],
  desktop: ['desktop'],
}

interface Rule {
  longUrl: string
  priority: number
  conditions: { type: string; matchKey: string | null; matchValue: string | null }[]
}

export function readRedirectRules(fields: FieldReader): Targets {
  const targets: Targets = { geoTargeting: {}, deviceTargeting: {}, left: [] }
  const value = fields.raw('redirectRules')
  if (value !== undefined && value !== null && !Array.isArray(value))
    fields.add('redirectRules', value, 'This has to be a list of rules. Export the file again.')
  const list: unknown[] = Array.isArray(value) ? value : []
  if (list.length === 0 && fields.flag('hasRedirectRules'))
    targets.left.push('redirect rules, which are not in this file')
  let lastCountry = Number.POSITIVE_INFINITY
  for (const rule of toRules(fields, list).sort((a, b) => a.priority - b.priority)) {
    const kind = addRule(targets, rule)
    if (kind === 'country') lastCountry = Math.min(lastCountry, rule.priority)
    if (kind === 'device' && rule.priority > lastCountry) {
      targets.left.push('the order of redirect rules: devices come before countries here')
      lastCountry = Number.POSITIVE_INFINITY
    }
  }
  addDeviceUrls(fields, targets)
  return targets
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

/** The first rule that matches wins in Shlink: a target that is there stays. */
function addRule(targets: Targets, { longUrl, conditions }: Rule): 'device' | 'country' | null {
  const [condition, ...more] = conditions
  const value = condition?.matchValue ?? ''
  if (more.length === 0 && condition?.type === 'device' && Object.hasOwn(DEVICES, value)) {
    for (const device of DEVICES[value] ?? []) targets.deviceTargeting[device] ??= longUrl
    return 'device'
  }
  if (more.length === 0 && condition?.type === 'geolocation-country-code' && /^[a-z]{2}$/i.test(value)) {
    targets.geoTargeting[value.toUpperCase()] ??= longUrl
    return 'country'
  }
  targets.left.push(
    `a redirect rule (${conditions.map(toWords).join(' and ') || 'no condition'}) to ${longUrl}`,
  )
  return null
}

const toWords = ({ type, matchKey, matchValue }: Rule['conditions'][number]) =>
  [type.replaceAll('-', ' '), matchKey, matchValue].filter((word) => word !== null && word !== '').join(' ')

/** Shlink 3.5 to 3.7 had one URL per device instead of rules. */
function addDeviceUrls(fields: FieldReader, { deviceTargeting }: Targets): void {
  const value = fields.raw('deviceLongUrls')
  if (typeof value !== 'object' || value === null) return
  for (const device of ['android', 'ios', 'desktop'] as const) {
    const url = (value as Record<string, unknown>)[device]
    if (isTextValue(url) && url !== '') deviceTargeting[device] ??= url
  }
}
