// The editor of a filter: first the dimension, then any number of values. Typing searches both.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { topListQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { formatShort } from '../../../ui/format.ts'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { t } from '../../../ui/text.ts'
import {
  appliesTo,
  DIMENSION_NAMES,
  type Dimension,
  formatDimensionValue,
  getDimensionInfo,
} from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { useParamDimensions } from '../view/use-param-dimensions.ts'
import { type ListOption, OptionList } from './option-list.tsx'

export function FilterEditor({
  view,
  dimension: initialDimension,
  close,
}: {
  view: AnalyticsView
  dimension?: Dimension
  close: () => void
}) {
  const [dimension, setDimension] = useState(initialDimension)
  if (dimension) {
    return (
      <Values
        key={dimension}
        view={view}
        dimension={dimension}
        back={initialDimension ? undefined : () => setDimension(undefined)}
        close={close}
      />
    )
  }
  return <Dimensions view={view} choose={setDimension} close={close} />
}

const includes = (label: string, text: string) => label.toLowerCase().includes(text.trim().toLowerCase())

function Dimensions({
  view,
  choose,
  close,
}: {
  view: AnalyticsView
  choose: (dimension: Dimension) => void
  close: () => void
}) {
  const [text, setText] = useState('')
  const items = [...DIMENSION_NAMES, ...useParamDimensions()]
    .filter((name) => !(name in view.fixed) && includes(getDimensionInfo(name).label, text))
    .map((name: Dimension): ListOption => {
      const { label, subject } = getDimensionInfo(name)
      return {
        id: name,
        label,
        detail: subject && `${subject} only`,
        hasSubmenu: true,
        run: () => choose(name),
      }
    })
  return <OptionList label="Filter by" items={items} text={text} setText={setText} close={close} />
}

/** The maximum number of options in the list; typing finds the others. */
const SHOWN_MAX = 100
const VALUES_LIMIT = 1000

function useValues(view: AnalyticsView, dimension: Dimension) {
  const api = useApi()
  const subject = appliesTo(dimension, 'clicks') && (view.clicks || !view.leads) ? 'clicks' : 'leads'
  // Without the filter itself, so that the list also has the values that are not selected.
  const parameters = { ...view[subject], [dimension]: undefined }
  return useQuery({
    ...topListQuery(api, subject, dimension, parameters, VALUES_LIMIT),
    enabled: view[subject] !== null,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
}

function Values({
  view,
  dimension,
  back,
  close,
}: {
  view: AnalyticsView
  dimension: Dimension
  back?: () => void
  close: () => void
}) {
  const [text, setText] = useState('')
  const [negate, setNegate] = useState(view.findFilter(dimension)?.negate ?? false)
  const filter = view.findFilter(dimension)
  const { data: rows = [], isLoading, error } = useValues(view, dimension)
  const info = getDimensionInfo(dimension)
  const chosen = filter && filter.negate === negate ? filter.values : []
  const listed = rows.map((row) => ({
    ...row,
    label: row.name ?? formatDimensionValue(dimension, row.value),
  }))
  const missing = chosen
    .filter((value) => !listed.some((row) => row.value === value))
    .map((value) => ({ value, label: formatDimensionValue(dimension, value), count: 0, detail: undefined }))
  const typed = text.trim()
  const items = [...missing, ...listed]
    .filter(({ label, detail }) => includes(label, text) || (detail && includes(detail, text)))
    .slice(0, SHOWN_MAX)
    .map(
      ({ value, label, count }): ListOption => ({
        id: value,
        label,
        countryCode: dimension === 'country' ? value : undefined,
        detail: formatShort(count),
        chosen: chosen.includes(value),
        run: () => view.toggle(dimension, value, negate),
      }),
    )
  if (
    typed &&
    !isLoading &&
    !info.ids &&
    !info.closed &&
    !listed.some(({ value, label }) => value === typed || label === typed)
  ) {
    items.push({
      id: 'typed',
      label: `“${typed}”`,
      detail: t('as typed'),
      run: () => view.toggle(dimension, typed, negate),
    })
  }
  const change = (next: boolean) => {
    setNegate(next)
    if (filter) view.setFilter(dimension, { ...filter, negate: next })
  }
  return (
    <OptionList
      label={`${info.label} …`}
      items={items}
      text={text}
      setText={setText}
      close={close}
      back={back}
      empty={error ? error.message : isLoading ? <SkeletonRows rows={5} className="h-7" /> : undefined}
      head={<NegateSwitch negate={negate} change={change} back={back} label={info.label} />}
    />
  )
}

function NegateSwitch({
  negate,
  change,
  back,
  label,
}: {
  negate: boolean
  change: (negate: boolean) => void
  back?: () => void
  label: string
}) {
  return (
    <div className="flex h-11 items-center gap-2 border-b border-line px-2">
      {back && (
        <IconButton label="Back to all filters" onClick={back}>
          <ArrowLeft size={16} />
        </IconButton>
      )}
      <span className="min-w-0 flex-1 truncate pl-1 text-sm font-medium">{label}</span>
      {[false, true].map((each) => (
        <button
          key={String(each)}
          type="button"
          aria-pressed={each === negate}
          onClick={() => change(each)}
          className={classNames(
            'h-7 rounded-lg px-2 text-sm hover:bg-hover',
            each === negate ? 'bg-tint font-medium text-accent' : 'text-soft',
          )}
        >
          {each ? 'is not' : 'is'}
        </button>
      ))}
    </div>
  )
}
