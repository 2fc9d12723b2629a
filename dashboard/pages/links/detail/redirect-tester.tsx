// Asks the server where a link would send a given visitor. No click is counted.

import { useQuery } from '@tanstack/react-query'
import { type ComponentProps, useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { type Resolution, resolutionQuery } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { COUNTRIES } from '../../../ui/countries.ts'
import { formatCountryName } from '../../../ui/format.ts'
import { DateTimeField } from '../../../ui/forms/date-time-field.tsx'
import { type Input, SelectField, TextField } from '../../../ui/forms/field.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { RULE_DEVICE_NAMES, RULE_SYSTEM_NAMES } from '../link/describe-rule.ts'

const RULE_LABELS: Record<string, string> = {
  destination: 'Redirects to the destination URL',
  device: 'Redirects to the destination for this device',
  geo: 'Redirects to the destination for this country',
  split: 'Redirects to a variant of the split test, such as the first one',
  password: 'Asks for the password',
  expiredUrl: 'Expired: redirects to the expiration URL',
  expired: 'Expired: shows “Link expired”',
  clickLimit: 'Click limit reached: shows “Link expired”',
  leadLimit: 'Lead limit reached: shows “Link expired”',
  archived: 'Archived: shows “Link not found”',
  notStarted: 'Not started yet: shows “Link not found”',
  unsafe: 'The destination URL isn’t allowed: shows “Link expired”',
  suspended: 'Suspended by the operator: shows “Link suspended”',
  blocked: 'The operator blocks the destination: shows “Link blocked”',
  unknown: 'Shows “Link not found”',
}

function describeReason(rule: string): string {
  const [, index] = rule.split('rules.')
  return index === undefined ? (RULE_LABELS[rule] ?? rule) : `Redirects by rule ${Number(index) + 1}`
}

const NOBODY = { country: '', device: 'desktop', os: '', language: '', query: '', at: '' }
type Visitor = typeof NOBODY

export function RedirectTester({ link }: { link: LinkResource }) {
  const api = useApi()
  const [visitor, setVisitor] = useState(NOBODY)
  const { at } = visitor
  const { data, error } = useQuery(
    resolutionQuery(api, link, { ...visitor, at: at && new Date(at).toISOString() }),
  )
  const change = (part: Partial<Visitor>) => setVisitor({ ...visitor, ...part })
  // Countries with their own destination are first.
  const targeted = [
    ...new Set([...Object.keys(link.geoTargeting), ...link.rules.flatMap(({ when }) => when.country ?? [])]),
  ]
  const countries = [...targeted, ...COUNTRIES.filter((code) => !targeted.includes(code))]
  const text = (name: 'language' | 'query', label: string, props: ComponentProps<typeof Input>) => (
    <TextField
      {...props}
      label={label}
      autoComplete="off"
      value={visitor[name]}
      onChange={({ target }) => change({ [name]: target.value })}
    />
  )
  return (
    <div className="grid gap-4">
      <div className="grid gap-4 sm:grid-cols-3">
        <Choice
          label="Country"
          value={visitor.country}
          options={[
            ['', 'Unknown country'],
            ...countries.map((code): [string, string] => [code, formatCountryName(code)]),
          ]}
          onChange={(country) => change({ country })}
        />
        <Choice
          label="Device"
          value={visitor.device}
          options={Object.entries(RULE_DEVICE_NAMES)}
          onChange={(device) => change({ device })}
        />
        <Choice
          label="System"
          value={visitor.os}
          options={[['', 'Other system'], ...Object.entries(RULE_SYSTEM_NAMES)]}
          onChange={(os) => change({ os })}
        />
        {text('language', 'Language', { placeholder: 'de-CH', maxLength: 1000 })}
        {text('query', 'Query', { placeholder: 'ref=partner', maxLength: 2000 })}
        <DateTimeField
          label="Date and time"
          placeholder="Now"
          value={visitor.at}
          onChange={(at) => change({ at })}
        />
      </div>
      <div role="status" className="min-h-14 rounded-xl bg-sunken px-4 py-3">
        {error ? <span className="text-danger">{error.message}</span> : <RedirectResult resolution={data} />}
      </div>
    </div>
  )
}

interface ChoiceProps {
  label: string
  value: string
  options: [value: string, label: string][]
  onChange: (value: string) => void
}

const Choice = ({ label, value, options, onChange }: ChoiceProps) => (
  <SelectField
    label={label}
    value={value}
    onChange={({ target }) => onChange(target.value)}
    options={options}
  />
)

function RedirectResult({ resolution }: { resolution: Resolution | undefined }) {
  if (!resolution) return <Skeleton className="h-6 w-64" />
  return (
    <>
      <p className="font-medium">
        {describeReason(resolution.rule)} <span className="font-normal text-soft">({resolution.status})</span>
      </p>
      {resolution.destinationUrl && <p className="break-all text-soft">{resolution.destinationUrl}</p>}
    </>
  )
}
