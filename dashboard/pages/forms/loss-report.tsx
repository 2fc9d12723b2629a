// The submission report: how many attempts were stored, and how many were rejected for each reason.

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormResource } from '../../../server/features/forms/schema.ts'
import { type Losses, type LossOutcome, lossesQuery } from '../../api/forms.ts'
import { useApi } from '../../shell/use-workspace.ts'
import { Card } from '../../ui/card.tsx'
import { classNames } from '../../ui/class-names.ts'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatCount, formatNumber, formatPercent } from '../../ui/format.ts'
import { Select } from '../../ui/forms/field.tsx'
import { COLUMN } from '../../ui/page.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'

const RANGES = [7, 30, 90]

export default function LossReport({ form }: { form: FormResource }) {
  const api = useApi()
  const [days, setDays] = useState(30)
  const losses = useQuery(lossesQuery(api, form.formKey, days))
  return (
    <div className={classNames(COLUMN, 'gap-5', losses.isPlaceholderData && 'opacity-60')}>
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-60 text-soft">
          Counts only. The content and the sender of rejected submissions aren’t stored.
        </p>
        <div className="w-44">
          <Select
            aria-label="Date range"
            value={days}
            onChange={(event) => setDays(Number(event.target.value))}
          >
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
        <EmptyState title="No attempts in this period">
          {' '}
          When people send this form, this page shows how many submissions were rejected, and why.
        </EmptyState>
      )}
      {losses.data && losses.data.attempts > 0 && <Report form={form} losses={losses.data} />}
    </div>
  )
}

const describeOutcomes = ({
  perAddress,
}: FormResource): Record<LossOutcome, { label: string; advice: string }> => ({
  stored: { label: 'Stored', advice: 'Includes duplicates and submissions that you marked as spam.' },
  spam: {
    label: 'Stored as spam',
    advice:
      'The filter of this form found a reason. Nobody was notified; “Not spam” in the inbox restores it.',
  },
  validation: {
    label: 'Rejected: missing or invalid field',
    advice: 'Most people correct it and send again.',
  },
  captcha: {
    label: 'Rejected: captcha missing or wrong',
    advice: 'Mostly bots. If people complain, check that the snippet is on the page.',
  },
  honeypot: { label: 'Caught by honeypot', advice: 'Bots that filled in the hidden field.' },
  rateLimited: {
    label: 'Rejected: too many submissions',
    advice: `One address may send ${formatCount(perAddress, 'submission')} per minute.`,
  },
  origin: {
    label: 'Rejected: site not allowed',
    advice: 'If the site is yours, add it to the allowed sites in the settings.',
  },
  tooLarge: {
    label: 'Rejected: too large',
    advice: 'The limits are 1 MB of text, 256 fields and 65,536 characters per field.',
  },
  unreadable: {
    label: 'Rejected: unreadable',
    advice: 'The content doesn’t match its type. The page check finds the usual causes.',
  },
})

function Report({ form, losses }: { form: FormResource; losses: Losses }) {
  const descriptions = describeOutcomes(form)
  const { attempts, outcomes, fields } = losses
  const rows = (Object.keys(descriptions) as LossOutcome[])
    .map((outcome) => ({ outcome, n: outcomes[outcome] }))
    .filter(({ outcome, n }) => n > 0 || outcome === 'stored')
  return (
    <>
      <Card title={`${formatNumber(attempts)} ${attempts === 1 ? 'attempt' : 'attempts'}`}>
        <ul className="grid grid-cols-[minmax(0,1fr)] gap-4">
          {rows.map(({ outcome, n }) => (
            <li key={outcome} className="grid grid-cols-[minmax(0,1fr)] gap-1">
              <Bar
                label={descriptions[outcome].label}
                n={n}
                part={n / attempts}
                good={outcome === 'stored'}
              />
              <p className="text-sm text-soft">{descriptions[outcome].advice}</p>
            </li>
          ))}
        </ul>
      </Card>
      {fields.length > 0 && (
        <Card title="Invalid fields">
          <ul className="grid grid-cols-[minmax(0,1fr)] gap-3">
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
  <div className="grid grid-cols-[minmax(0,1fr)] gap-1">
    <p className="flex items-baseline gap-3">
      <span className="min-w-0 flex-1 wrap-anywhere">{label}</span>
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
