// Choosing a filter by typing: first what it is about, then the values, as many as one likes.

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { ArrowLeft } from 'lucide-react'
import { useState } from 'react'
import { topQuery } from '../../api/analytics.ts'
import { useApi } from '../../shell/workspace.ts'
import { IconButton } from '../../ui/button.tsx'
import { formatShort } from '../../ui/format.ts'
import { join } from '../../ui/join.ts'
import { SkeletonRows } from '../../ui/states.tsx'
import { Chooser, type Item } from './chooser.tsx'
import { canAsk, DIMENSION_NAMES, type Dimension, factsOf, valueName } from './dimensions.ts'
import type { View } from './use-view.ts'

export function FilterEditor({
  view,
  dimension: given,
  close,
}: {
  view: View
  dimension?: Dimension
  close: () => void
}) {
  const [dimension, setDimension] = useState(given)
  if (dimension) {
    return (
      <Values
        key={dimension}
        view={view}
        dimension={dimension}
        back={given ? undefined : () => setDimension(undefined)}
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
  view: View
  choose: (dimension: Dimension) => void
  close: () => void
}) {
  const [text, setText] = useState('')
  const items = DIMENSION_NAMES.filter(
    (name) => !(name in view.fixed) && includes(factsOf(name).label, text),
  ).map((name): Item => {
    const { label, of } = factsOf(name)
    return {
      id: name,
      label,
      detail: of && (of === 'clicks' ? 'of clicks' : 'of leads'),
      more: true,
      run: () => choose(name),
    }
  })
  return <Chooser label="Filter by" items={items} text={text} setText={setText} close={close} />
}

/** More of them than this nobody reads: typing finds the others. */
const SHOWN_MAX = 100
const ASKED = 1000

function useValues(view: View, dimension: Dimension) {
  const api = useApi()
  const subject = canAsk(dimension, 'clicks') && (view.clicks || !view.leads) ? 'clicks' : 'leads'
  // All there are to choose from, not only what is chosen.
  const asked = { ...view[subject], [dimension]: undefined }
  return useQuery({
    ...topQuery(api, subject, dimension, asked, ASKED),
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
  view: View
  dimension: Dimension
  back?: () => void
  close: () => void
}) {
  const [text, setText] = useState('')
  const [negate, setNegate] = useState(view.filterOf(dimension)?.negate ?? false)
  const filter = view.filterOf(dimension)
  const { data: rows = [], isLoading, error } = useValues(view, dimension)
  const facts = factsOf(dimension)
  const chosen = filter && filter.negate === negate ? filter.values : []
  const known = rows.map((row) => ({ ...row, label: row.name ?? valueName(dimension, row.value) }))
  const missing = chosen
    .filter((value) => !known.some((row) => row.value === value))
    .map((value) => ({ value, label: valueName(dimension, value), count: 0, detail: undefined }))
  const typed = text.trim()
  const items = [...missing, ...known]
    .filter(({ label, detail }) => includes(label, text) || (detail && includes(detail, text)))
    .slice(0, SHOWN_MAX)
    .map(
      ({ value, label, count }): Item => ({
        id: value,
        label,
        flag: dimension === 'country' ? value : undefined,
        detail: formatShort(count),
        chosen: chosen.includes(value),
        run: () => view.toggle(dimension, value, negate),
      }),
    )
  if (
    typed &&
    !isLoading &&
    !facts.ids &&
    !known.some(({ value, label }) => value === typed || label === typed)
  ) {
    items.push({
      id: 'typed',
      label: `“${typed}”`,
      detail: 'as typed',
      run: () => view.toggle(dimension, typed, negate),
    })
  }
  const change = (next: boolean) => {
    setNegate(next)
    if (filter) view.setFilter(dimension, { ...filter, negate: next })
  }
  return (
    <Chooser
      label={`${facts.label} …`}
      items={items}
      text={text}
      setText={setText}
      close={close}
      back={back}
      empty={error ? error.message : isLoading ? <SkeletonRows rows={5} className="h-7" /> : undefined}
      head={<IsOrNot negate={negate} change={change} back={back} label={facts.label} />}
    />
  )
}

function IsOrNot({
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
        <IconButton label="Another filter" onClick={back}>
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
          className={join(
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
