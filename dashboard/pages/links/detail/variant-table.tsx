// The figures of a split test's variants: clicks, leads, and the rate with its interval, as numbers and as a bar.

import type { SplitResource } from '../../../api/splits.ts'
import { Badge } from '../../../ui/badge.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatNumber, formatPercent, toReadableUrl } from '../../../ui/format.ts'
import { getVariantColor, VariantDot } from '../link/variant-dot.tsx'

type Variant = SplitResource['variants'][number]

const CELL = 'py-2 pl-3 text-right align-top tabular-nums'
const HEAD = 'pb-2 pl-3 text-right font-normal text-soft'

export function VariantTable({ variants, best }: { variants: Variant[]; best: string | null }) {
  const highest = Math.max(...variants.map(({ high }) => high ?? 0), 0)
  return (
    <table className="w-full table-fixed text-sm">
      <caption className="sr-only">Variants of the split test</caption>
      <thead>
        <tr>
          <th scope="col" className={`${HEAD} pl-0! text-left!`}>
            Variant
          </th>
          <th scope="col" className={`${HEAD} w-16 sm:w-20`}>
            Clicks
          </th>
          <th scope="col" className={`${HEAD} w-13 sm:w-20`}>
            Leads
          </th>
          <th scope="col" className={`${HEAD} w-26 sm:w-20`}>
            Rate
          </th>
          <th scope="col" className={`${HEAD} w-2/5 pl-6! text-left! max-sm:hidden`}>
            95{'\u202f'}% interval
          </th>
        </tr>
      </thead>
      <tbody>
        {variants.map((variant, index) => (
          <tr key={variant.label} className="border-t border-line">
            <th scope="row" className="py-2 text-left align-top font-normal">
              <Name variant={variant} index={index} isBest={variant.label === best} />
            </th>
            <td className={CELL}>{formatNumber(variant.clicks)}</td>
            <td className={CELL}>{formatNumber(variant.leads)}</td>
            <td className={CELL}>
              {variant.rate === null ? '–' : formatPercent(variant.rate)}
              <span className="block text-xs text-soft sm:hidden">{formatInterval(variant)}</span>
            </td>
            <td className="py-2 pl-6 align-top max-sm:hidden">
              <Interval variant={variant} index={index} highest={highest} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Name = ({ variant, index, isBest }: { variant: Variant; index: number; isBest: boolean }) => (
  <>
    <span className="flex min-w-0 items-baseline gap-2">
      <VariantDot index={index} />
      <span className="flex min-w-0 flex-wrap items-center gap-x-2">
        <span className="min-w-0 font-medium break-words">{variant.label}</span>
        <span className="text-soft">
          {variant.weight}
          {'\u202f'}%
        </span>
        {isBest && <Badge tone="good">Winner</Badge>}
      </span>
    </span>
    <span className="block truncate text-soft" title={variant.url}>
      {toReadableUrl(variant.url)}
    </span>
  </>
)

const formatInterval = ({ low, high }: Variant) =>
  low === null || high === null ? '' : `${formatPercent(low)} – ${formatPercent(high)}`

/** The interval on a scale that all variants share, with a mark at the rate. */
function Interval({ variant, index, highest }: { variant: Variant; index: number; highest: number }) {
  const { low, high, rate } = variant
  if (low === null || high === null || rate === null) return <span className="text-soft">No clicks yet</span>
  const toPlace = (part: number) => `${(part / Math.max(highest, Number.EPSILON)) * 100}%`
  return (
    <>
      <span className="relative mt-1.5 block h-2 rounded-full bg-sunken" aria-hidden>
        <span
          className={classNames('absolute inset-y-0 rounded-full opacity-45', getVariantColor(index))}
          style={{ left: toPlace(low), width: toPlace(high - low) }}
        />
        <span
          className="absolute -inset-y-1 w-0.5 -translate-x-1/2 rounded-full bg-ink"
          style={{ left: toPlace(rate) }}
        />
      </span>
      <span className="mt-1.5 block text-xs text-soft tabular-nums">{formatInterval(variant)}</span>
    </>
  )
}
