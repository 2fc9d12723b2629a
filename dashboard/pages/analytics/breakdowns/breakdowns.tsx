// The top lists: six cards, each with tabs for related dimensions.

import { Tabs } from '@base-ui/react/tabs'
import { useQueryClient } from '@tanstack/react-query'
import { Maximize2 } from 'lucide-react'
import { useState } from 'react'
import { type Subject, topListQuery } from '../../../api/analytics.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { IconButton } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { inSentence } from '../../../ui/text.ts'
import { useInView } from '../../../ui/use-in-view.ts'
import {
  appliesTo,
  type Dimension,
  getDimensionInfo,
  METRIC_LABELS,
  SOURCE_DIMENSIONS,
} from '../view/dimensions.ts'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { useParamDimensions } from '../view/use-param-dimensions.ts'
import { TopList } from './top-list.tsx'

// Loaded when it is first shown, because its outlines have 12 KB.
const CountryMap = lazyPart(
  () => import('../map/country-map.tsx'),
  'CountryMap',
  <div className="aspect-[1000/436] w-full" />,
)
const TopListDialog = lazyPart(() => import('./top-list-dialog.tsx'), 'TopListDialog')

interface Group {
  title: string
  dimensions: readonly Dimension[]
  /** Always counts this subject, independent of the metric of the page. */
  subject?: Subject
}

/** The title of the wide card, which has the map beside its list of countries. */
const WIDE = 'Locations'

/** The title of the card that also has the workspace's kept parameters. */
const CAMPAIGNS = 'Campaigns'

const GROUPS: Group[] = [
  { title: 'Links', dimensions: ['linkId', 'tagId', 'domain', 'slug'] },
  { title: 'Sources', dimensions: SOURCE_DIMENSIONS },
  { title: WIDE, dimensions: ['country', 'region', 'city', 'continent'] },
  {
    title: CAMPAIGNS,
    dimensions: ['utmCampaign', 'utmSource', 'utmMedium', 'utmTerm', 'utmContent', 'variant'],
  },
  { title: 'Devices', dimensions: ['device', 'browser', 'os', 'trigger'] },
  { title: 'Leads', dimensions: ['form', 'page'], subject: 'leads' },
]

/** Hidden on the page of one link, where they have only one value. */
const LINK_DIMENSIONS: Dimension[] = ['linkId', 'domain', 'slug', 'tagId']

export function Breakdowns({ view }: { view: AnalyticsView }) {
  const params = useParamDimensions()
  const groups = GROUPS.map((group) =>
    group.title === CAMPAIGNS ? { ...group, dimensions: [...group.dimensions, ...params] } : group,
  ).flatMap((group) => {
    const subject = group.subject ?? (view.metric === 'leads' ? 'leads' : 'clicks')
    const hidden = 'linkId' in view.fixed ? LINK_DIMENSIONS : []
    const dimensions = group.dimensions.filter((each) => appliesTo(each, subject) && !hidden.includes(each))
    return dimensions.length > 0 ? [{ ...group, subject, dimensions }] : []
  })
  const narrow = groups.filter(({ title }) => title !== WIDE)
  const alone = narrow.length % 2 === 1 ? narrow.at(-1) : undefined
  return (
    <div className="grid grid-flow-row-dense grid-cols-1 gap-4 lg:grid-cols-2">
      {groups.map((group) => (
        <Breakdown key={group.title} view={view} {...group} wide={group.title === WIDE || group === alone} />
      ))}
    </div>
  )
}

interface BreakdownProps extends Group {
  view: AnalyticsView
  subject: Subject
}

function Breakdown({ view, title, dimensions, subject, wide }: BreakdownProps & { wide: boolean }) {
  const [isDialogOpen, setDialogOpen] = useState(false)
  const { ref, inView } = useInView<HTMLElement>()
  const open = dimensions.find((each) => view.tabs.includes(each)) ?? (dimensions[0] as Dimension)
  const choose = (next: Dimension) => {
    const others = view.tabs.filter((each) => !dimensions.includes(each as Dimension))
    const tabs = next === dimensions[0] ? others : [...others, next]
    view.set({ tabs: tabs.join(',') || undefined })
  }
  const metricLabel = subject === 'leads' ? METRIC_LABELS.leads : METRIC_LABELS[view.metric]
  return (
    <section
      ref={ref}
      className={classNames(
        'flex min-w-0 flex-col rounded-2xl border border-line bg-card',
        wide && 'lg:col-span-2',
      )}
    >
      <Tabs.Root value={open} onValueChange={choose} className="contents">
        <header className="flex flex-wrap items-center gap-x-3 px-4 pt-3 sm:px-5">
          <h2 className="flex-1 font-semibold">{title}</h2>
          <IconButton
            label={`Show all ${inSentence(getDimensionInfo(open).plural)}`}
            onClick={() => setDialogOpen(true)}
          >
            <Maximize2 size={15} />
          </IconButton>
          <DimensionTabs view={view} title={title} dimensions={dimensions} subject={subject} />
        </header>
        <Tabs.Panel
          value={open}
          className={classNames(
            'border-t border-line p-2 sm:p-3',
            open === 'country' && 'grid grid-cols-1 items-center gap-2 lg:grid-cols-2 lg:gap-4',
          )}
        >
          {open === 'country' && <CountryMap {...{ view, subject, metricLabel, inView }} />}
          <TopList
            key={`${open} ${subject}`}
            view={view}
            dimension={open}
            subject={subject}
            metricLabel={metricLabel}
            inView={inView}
          />
        </Tabs.Panel>
      </Tabs.Root>
      {isDialogOpen && (
        <TopListDialog
          view={view}
          dimension={open}
          subject={subject}
          metricLabel={metricLabel}
          close={() => setDialogOpen(false)}
        />
      )}
    </section>
  )
}

/** The tabs of a card. Pointing at a tab loads its list ahead. */
function DimensionTabs({ view, title, dimensions, subject }: BreakdownProps) {
  const api = useApi()
  const client = useQueryClient()
  const prefetch = (dimension: Dimension) => {
    const parameters = view[subject]
    if (parameters) void client.prefetchQuery(topListQuery(api, subject, dimension, parameters))
  }
  return (
    <Tabs.List
      aria-label={title}
      className="-mx-1 flex w-full gap-4 overflow-x-auto px-1 [scrollbar-width:none]"
    >
      {dimensions.map((each) => (
        <Tabs.Tab
          key={each}
          value={each}
          onPointerEnter={() => prefetch(each)}
          className="h-9 shrink-0 border-b-2 border-transparent text-sm text-soft -outline-offset-2 hover:text-ink data-active:border-accent data-active:font-medium data-active:text-accent"
        >
          {getDimensionInfo(each).plural}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  )
}
