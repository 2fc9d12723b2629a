// Asks the server where a link would send a given visitor. No click is counted.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { type Resolution, resolutionQuery } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { COUNTRIES } from '../../../ui/countries.ts'
import { formatCountryName } from '../../../ui/format.ts'
import { Field, Select, TextField } from '../../../ui/forms/field.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { RULE_DEVICE_NAMES, RULE_SYSTEM_NAMES } from '../link/describe-rule.ts'

const RULE_LABELS: Record<string, string> = {
  destination: 'Redirects to the destination URL',
  device: 'Redirects to the destination for this device',
  geo: 'Redirects to the destination for this country',
  password: 'Asks for the password',
  expiredUrl: 'Expired: redirects to the expiration URL',
  expired: 'Expired: shows “Link expired”',
  clickLimit: 'Click limit reached: shows “Link expired”',
  leadLimit: 'Lead limit reached: shows “Link expired”',
  archived: 'Archived: shows “Link not found”',
  notStarted: 'Not started yet: shows “Link not found”',
  unsafe: 'The destination URL is not allowed: shows “Link expired”',
  suspended: 'Suspended by the operator: shows “Link suspended”',
  blocked: 'The operator blocks the destination: shows “Link blocked”',
  unknown: 'Shows “Link not found”',
}

export function RedirectTester({ link }: { link: LinkResource }) {
  const api = useApi()
  const [country, setCountry] = useState('')
  const [device, setDevice] = useState('desktop')
  const [os, setOs] = useState('')
  const [language, setLanguage] = useState('')
  const [query, setQuery] = useState('')
  const [at, setAt] = useState('')
  const visit = { country, device, os, language, query, at: at && new Date(at).toISOString() }
  const { data, error } = useQuery(resolutionQuery(api, link, visit))
  // Countries with their own destination are first.
  const targetedCountries = Object.keys(link.geoTargeting)
  return (
    <div className="grid gap-4">
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label="Country">
          {(control) => (
            <Select {...control} value={country} onChange={({ target }) => setCountry(target.value)}>
              <option value="">Unknown country</option>
              {[...targetedCountries, ...COUNTRIES.filter((code) => !targetedCountries.includes(code))].map(
                (code) => (
                  <option key={code} value={code}>
                    {formatCountryName(code)}
                  </option>
                ),
              )}
            </Select>
          )}
        </Field>
        <Field label="Device">
          {(control) => (
            <Select {...control} value={device} onChange={({ target }) => setDevice(target.value)}>
              {Object.entries(RULE_DEVICE_NAMES).map(([name, label]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="System">
          {(control) => (
            <Select {...control} value={os} onChange={({ target }) => setOs(target.value)}>
              <option value="">Other system</option>
              {Object.entries(RULE_SYSTEM_NAMES).map(([name, label]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <TextField
          label="Language"
          placeholder="de-CH"
          autoComplete="off"
          maxLength={1000}
          value={language}
          onChange={({ target }) => setLanguage(target.value)}
        />
        <TextField
          label="Query"
          placeholder="ref=partner"
          autoComplete="off"
          maxLength={2000}
          value={query}
          onChange={({ target }) => setQuery(target.value)}
        />
        <TextField
          label="Date and time"
          className="grid-cols-1"
          type="datetime-local"
          value={at}
          onChange={({ target }) => setAt(target.value)}
        />
      </div>
      <div role="status" className="min-h-14 rounded-xl bg-sunken px-4 py-3">
        {error ? <span className="text-danger">{error.message}</span> : <RedirectResult resolution={data} />}
      </div>
    </div>
  )
}

function RedirectResult({ resolution }: { resolution: Resolution | undefined }) {
  if (!resolution) return <Skeleton className="h-6 w-64" />
  return (
    <>
      <p className="font-medium">
        {resolution.ruleIndex === null
          ? (RULE_LABELS[resolution.rule] ?? resolution.rule)
          : `Redirects by rule ${resolution.ruleIndex + 1}`}{' '}
        <span className="font-normal text-soft">({resolution.status})</span>
      </p>
      {resolution.destinationUrl && <p className="break-all text-soft">{resolution.destinationUrl}</p>}
    </>
  )
}
