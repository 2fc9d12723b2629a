// Asks the server which rule would answer a visitor, without counting anything.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { type Resolution, resolutionQuery } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { COUNTRIES } from '../../../ui/countries.ts'
import { formatCountryName } from '../../../ui/format.ts'
import { Field, Select, TextField } from '../../../ui/forms/field.tsx'
import { Skeleton } from '../../../ui/states.tsx'

const RULE_LABELS: Record<string, string> = {
  destination: 'Goes to the destination',
  device: 'Goes to the destination for this device',
  geo: 'Goes to the destination for this country',
  password: 'Is asked for the password',
  expiredUrl: 'Has ended: goes to the address for afterwards',
  expired: 'Has ended: sees a page that says so',
  clickLimit: 'All clicks are used up: sees a page that says so',
  leadLimit: 'All leads have come: sees a page that says so',
  archived: 'Archived: sees a page that says not found',
  notStarted: 'Not started yet: sees a page that says not found',
  unsafe: 'The destination is not one that may be opened: sees a page that says so',
  unknown: 'Sees a page that says not found',
}

export function RedirectTester({ link }: { link: LinkResource }) {
  const api = useApi()
  const [country, setCountry] = useState('')
  const [device, setDevice] = useState('desktop')
  const [at, setAt] = useState('')
  const visit = { country, device, at: at && new Date(at).toISOString() }
  const { data, error } = useQuery(resolutionQuery(api, link, visit))
  // Those that make a difference stand first.
  const targeted = Object.keys(link.geoTargeting)
  return (
    <div className="grid gap-4">
      <div className="grid gap-4 sm:grid-cols-3">
        <Field label="Visitor from">
          {(control) => (
            <Select {...control} value={country} onChange={({ target }) => setCountry(target.value)}>
              <option value="">Unknown country</option>
              {[...targeted, ...COUNTRIES.filter((code) => !targeted.includes(code))].map((code) => (
                <option key={code} value={code}>
                  {formatCountryName(code)}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label="With">
          {(control) => (
            <Select {...control} value={device} onChange={({ target }) => setDevice(target.value)}>
              <option value="desktop">Desktop</option>
              <option value="ios">iPhone or iPad</option>
              <option value="android">Android</option>
            </Select>
          )}
        </Field>
        <TextField
          label="At"
          className="grid-cols-1"
          type="datetime-local"
          value={at}
          onChange={({ target }) => setAt(target.value)}
        />
      </div>
      <div role="status" className="min-h-14 rounded-xl bg-sunken px-4 py-3">
        {error ? <span className="text-danger">{error.message}</span> : <RedirectResult answer={data} />}
      </div>
    </div>
  )
}

function RedirectResult({ answer }: { answer: Resolution | undefined }) {
  if (!answer) return <Skeleton className="h-6 w-64" />
  return (
    <>
      <p className="font-medium">
        {RULE_LABELS[answer.rule] ?? answer.rule}{' '}
        <span className="font-normal text-soft">({answer.status})</span>
      </p>
      {answer.destinationUrl && <p className="break-all text-soft">{answer.destinationUrl}</p>}
    </>
  )
}
