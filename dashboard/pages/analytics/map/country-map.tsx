// A world map that shades countries by their numbers, and the map of the country list of analytics. It repeats a list for the
// eye: the list has the numbers, and serves keyboards and screen readers.

import { useState } from 'react'
import type { Subject } from '../../../api/analytics.ts'
import { classNames } from '../../../ui/class-names.ts'
import { formatCountryName, formatNumber, formatPercent } from '../../../ui/format.ts'
import { inSentence } from '../../../ui/text.ts'
import { useTopList } from '../breakdowns/use-top-list.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import WORLD from './world-outlines.json'

const COUNTRIES = Object.entries(WORLD.paths)
/** The opacity of the smallest country with clicks, as a part of the largest one's: it must differ from none. */
const FAINTEST = 0.2

interface CountryMapProps {
  view: AnalyticsView
  subject: Subject
  metricLabel: string
  inView: boolean
}

export function CountryMap({ view, subject, metricLabel, inView }: CountryMapProps) {
  // The query of the list, so that the map asks nothing more.
  const { rows = [] } = useTopList(view, 'country', subject, { enabled: inView })
  const filter = view.findFilter('country')
  return (
    <WorldMap
      amounts={new Map(rows.map(({ value, amount }) => [value, amount]))}
      metricLabel={metricLabel}
      isChosen={(code) => filter !== undefined && !filter.negate && filter.values.includes(code)}
      onChoose={(code) => view.toggle('country', code)}
    />
  )
}

interface WorldMapProps {
  /** By country code. */
  amounts: Map<string, number>
  metricLabel: string
  isChosen?: (code: string) => boolean
  onChoose?: (code: string) => void
}

export function WorldMap({ amounts, metricLabel, isChosen = () => false, onChoose }: WorldMapProps) {
  const [pointed, setPointed] = useState<string>()
  const highest = Math.max(1, ...amounts.values())
  const sum = [...amounts.values()].reduce((total, amount) => total + amount, 0)
  const metric = inSentence(metricLabel)
  const amount = pointed === undefined ? 0 : (amounts.get(pointed) ?? 0)
  return (
    <div className="relative">
      <svg
        viewBox={`0 0 ${WORLD.width} ${WORLD.height}`}
        role="img"
        aria-label={`World map of ${metric} by country. The list has the same numbers.`}
        className="w-full"
      >
        {COUNTRIES.map(([code, path]) => {
          const value = amounts.get(code) ?? 0
          return (
            // biome-ignore lint/a11y/noStaticElementInteractions: the list serves the keyboard
            <path
              key={code}
              d={path}
              data-country={code}
              // The root of the share: else one country outshines all others.
              fillOpacity={value > 0 ? FAINTEST + (1 - FAINTEST) * Math.sqrt(value / highest) : 1}
              strokeWidth={isChosen(code) ? 2 : 0.7}
              className={classNames(
                value > 0 ? 'fill-accent' : 'fill-line',
                value > 0 && onChoose && 'cursor-pointer',
                isChosen(code) ? 'stroke-ink' : 'stroke-card',
                value > 0 && 'hover:stroke-ink',
              )}
              onPointerEnter={() => setPointed(code)}
              onPointerLeave={() => setPointed(undefined)}
              onClick={() => value > 0 && onChoose?.(code)}
            />
          )
        })}
      </svg>
      {pointed !== undefined && (
        <p
          aria-hidden
          className="pointer-events-none absolute bottom-0 left-0 max-w-full truncate rounded-lg border border-line bg-card px-2 py-1 text-sm shadow-sm"
        >
          {formatCountryName(pointed)}{' '}
          <span className="font-medium tabular-nums">
            {amount === 0 ? `no ${metric}` : `${formatNumber(amount)} (${formatPercent(amount / sum)})`}
          </span>
        </p>
      )}
    </div>
  )
}
