// The comparison: the whole range in words, and a table of the days.

import type { ReconciledDay, Reconciliation } from '../../../api/reconcile.ts'
import { Card } from '../../../ui/card.tsx'
import { formatNumber } from '../../../ui/format.ts'
import { t } from '../../../ui/text.ts'

const TOOLS = { ga4: 'GA4', plausible: 'Plausible', bitly: 'Bitly' }

/** The classes of hits that are left out, as the API names them. */
const LEFT_OUT: Record<string, string> = {
  bot: 'robots and previews',
  prefetch: t('pages fetched ahead'),
  head: 'HEAD requests',
  spam: t('referrer spam'),
  internal: 'your own clicks',
}

const formatSigned = (n: number) => (n > 0 ? `+${formatNumber(n)}` : formatNumber(n))
const orDash = (n: number | null, format: (n: number) => string) => (n === null ? '–' : format(n))

export function ToolComparison({ result }: { result: Reconciliation }) {
  const { tool, metric, countColumn, timezone, theirTimezone, total, days, notes } = result
  const name = tool === null ? 'The other tool' : TOOLS[tool]
  const left = Object.entries(total.leftOut).filter(([, n]) => n > 0)
  return (
    <div className="mt-6 grid grid-cols-1 gap-6" role="status">
      <Card title={`${name}: ${countColumn}`}>
        <dl className="grid gap-4 sm:grid-cols-4">
          <Figure label="Theirs" value={orDash(total.theirs, formatNumber)} />
          <Figure label={`Ours (${metric})`} value={formatNumber(total.ours)} />
          <Figure label="Difference" value={orDash(total.difference, formatSigned)} />
          <Figure label="Unexplained" value={orDash(total.unexplained, formatSigned)} />
        </dl>
        <ul className="mt-4 grid list-disc gap-1 pl-5 text-sm text-soft">
          {timezone !== theirTimezone && (
            <li>
              {formatSigned(total.timeZoneShift)} by the time zone: days in {theirTimezone}, not in {timezone}
              .
            </li>
          )}
          {left.length > 0 && (
            <li>
              Recorded here and not counted:{' '}
              {left.map(([key, n]) => `${formatNumber(n)} ${LEFT_OUT[key] ?? key}`).join(', ')}.
            </li>
          )}
          {total.imported > 0 && <li>{formatNumber(total.imported)} of ours came with an import.</li>}
          {total.withoutVisit !== null && (
            <li>
              {formatNumber(total.withoutVisit)} of ours have no page view of the snippet: no script, gone
              before it ran, or a page without it.
            </li>
          )}
          {notes.map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      </Card>
      <Card title="Day by day">
        <DayTable days={days} hasShift={timezone !== theirTimezone} />
      </Card>
    </div>
  )
}

const Figure = ({ label, value }: { label: string; value: string }) => (
  <div>
    <dt className="text-sm text-soft">{label}</dt>
    <dd className="text-xl font-semibold tabular-nums">{value}</dd>
  </div>
)

const CELL = 'px-2 py-1.5 text-right tabular-nums whitespace-nowrap first:pl-0 first:text-left last:pr-0'

function DayTable({ days, hasShift }: { days: ReconciledDay[]; hasShift: boolean }) {
  const hasImports = days.some(({ imported }) => imported > 0)
  const hasVisits = days.some(({ withoutVisit }) => withoutVisit !== null)
  const sumLeftOut = ({ leftOut }: ReconciledDay) => Object.values(leftOut).reduce((sum, n) => sum + n, 0)
  const columns: [name: string, read: (day: ReconciledDay) => string, isShown: boolean][] = [
    ['Theirs', ({ theirs }) => orDash(theirs, formatNumber), true],
    ['Ours', ({ ours }) => formatNumber(ours), true],
    ['Difference', ({ difference }) => orDash(difference, formatSigned), true],
    ['Time zone', ({ timeZoneShift }) => formatSigned(timeZoneShift), hasShift],
    ['Left out', (day) => formatNumber(sumLeftOut(day)), true],
    ['Imported', ({ imported }) => formatNumber(imported), hasImports],
    ['No visit', ({ withoutVisit }) => orDash(withoutVisit, formatNumber), hasVisits],
    ['Unexplained', ({ unexplained }) => orDash(unexplained, formatSigned), true],
  ]
  const shown = columns.filter(([, , isShown]) => isShown)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls can have the focus (WCAG 2.1.1)
    <section aria-label="Day by day" tabIndex={0} className="overflow-x-auto">
      <table className="w-full text-sm">
        <thead className="text-soft">
          <tr>
            <th scope="col" className={CELL}>
              Day
            </th>
            {shown.map(([name]) => (
              <th key={name} scope="col" className={CELL}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <tr key={day.day} className="border-t border-line">
              <th scope="row" className={`${CELL} font-medium`}>
                {day.day}
              </th>
              {shown.map(([name, read]) => (
                <td key={name} className={CELL}>
                  {read(day)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
