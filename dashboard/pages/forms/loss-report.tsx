// How the attempts to send a form ended: what became a submission, and what was turned away by which rule.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { type Losses, type LossOutcome, lossesQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { classNames } from '../../ui/class-names.ts'
import { formatNumber, formatPercent } from '../../ui/format.ts'
import { Select } from '../../ui/forms/field.tsx'
import { Card } from '../../ui/page.tsx'
import { EmptyState, ErrorState, SkeletonRows } from '../../ui/states.tsx'

const RANGES = [7, 30, 90]

export default function LossReport({ form }: { form: FormResource }) {
  const api = useApi()
  const [days, setDays] = useState(30)
  const losses = useQuery(lossesQuery(api, form.formKey, days))
  return (
    <div className={classNames('grid max-w-3xl gap-5', losses.isPlaceholderData && 'opacity-60')}>
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-60 text-soft">
          Counts only: of what was turned away, neither the content nor the sender is kept.
        </p>
        <div className="w-44">
          <Select aria-label="Range" value={days} onChange={(event) => setDays(Number(event.target.value))}>
            {RANGES.map((range) => (
              <option key={range} value={range}>
                Last {range} days
              </option>
            ))}
          </Select>
        </div>
      </div>
      {losses.isError && !losses.data && (
        <ErrorState error={losses.error} retry={() => void losses.refetch()} />
      )}
      {losses.isPending && <SkeletonRows rows={6} className="h-10" />}
      {losses.data?.attempts === 0 && (
        <EmptyState title="Nobody tried to send this form">
          As soon as somebody does, this page says how it ended, and where people give up.
        </EmptyState>
      )}
      {losses.data && losses.data.attempts > 0 && <Report losses={losses.data} />}
    </div>
  )
}

const OUTCOME_LABELS: Record<LossOutcome, { label: string; advice: string }> = {
  stored: { label: 'Became a submission', advice: 'Duplicates and what you marked as spam among them.' },
  validation: { label: 'A field was missing or wrong', advice: 'Most people correct it and send again.' },
  captcha: {
    label: 'No captcha, or a wrong one',
    advice: 'Robots for the most part. If people complain, check that the snippet is on the page.',
  },
  honeypot: { label: 'Fell into the trap', advice: 'Robots that fill in the field people do not see.' },
  rateLimited: { label: 'Too many from one address', advice: 'Ten a minute are allowed.' },
  origin: { label: 'From a site that is not allowed', advice: 'Is one of yours missing in the settings?' },
  tooLarge: { label: 'Too large', advice: 'A megabyte, 256 fields, 65,536 characters in a field.' },
  unreadable: {
    label: 'Not readable',
    advice: 'A script sends another type than it says. The page doctor knows the usual mistakes.',
  },
}

function Report({ losses }: { losses: Losses }) {
  const { attempts, outcomes, fields } = losses
  const rows = (Object.keys(OUTCOME_LABELS) as LossOutcome[])
    .map((outcome) => ({ outcome, n: outcomes[outcome] }))
    .filter(({ outcome, n }) => n > 0 || outcome === 'stored')
  return (
    <>
      <Card title={`${formatNumber(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}`}>
        <ul className="grid gap-4">
          {rows.map(({ outcome, n }) => (
            <li key={outcome} className="grid gap-1">
              <Bar
                label={OUTCOME_LABELS[outcome].label}
                n={n}
                part={n / attempts}
                good={outcome === 'stored'}
              />
              <p className="text-sm text-soft">{OUTCOME_LABELS[outcome].advice}</p>
            </li>
          ))}
        </ul>
      </Card>
      {fields.length > 0 && (
        <Card title="Fields that were wrong">
          <ul className="grid gap-3">
            {fields.map(({ field, attempts: n }) => (
              <li key={field}>
                <Bar label={field} n={n} part={n / attempts} />
              </li>
            ))}
          </ul>
        </Card>
      )}
    </>
  )
}

const Bar = ({ label, n, part, good }: { label: string; n: number; part: number; good?: boolean }) => (
  <div className="grid gap-1">
    <p className="flex items-baseline gap-3">
      <span className="min-w-0 flex-1 truncate">{label}</span>
      <span className="tabular-nums">{formatNumber(n)}</span>
      <span className="w-14 text-right text-sm text-soft tabular-nums">{formatPercent(part)}</span>
    </p>
    <div aria-hidden className="h-1.5 overflow-hidden rounded-full bg-sunken">
      <div
        className={classNames('h-full rounded-full', good ? 'bg-accent' : 'bg-danger')}
        style={{ width: `${Math.max(part * 100, n > 0 ? 1 : 0)}%` }}
      />
    </div>
  </div>
)
