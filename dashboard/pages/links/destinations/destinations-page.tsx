// The destinations page: where links lead to, which of the pages are broken, and the way to repair all their links.

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Unlink } from 'lucide-react'
import { useState } from 'react'
import { type DestinationResource, destinationsQuery } from '../../../api/destinations.ts'
import { workspaceQuery } from '../../../api/workspace.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatCount } from '../../../ui/format.ts'
import { SelectField } from '../../../ui/forms/field.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Page } from '../../../ui/page.tsx'
import { ShowMore } from '../../../ui/show-more.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { DestinationRow, toDestinationElementId } from './destination-row.tsx'
import { NotWatched, WatchSetting } from './watch-setting.tsx'

const RepairDialog = lazyPart(() => import('./repair-dialog.tsx'), 'RepairDialog')

const FROM = '/$workspaceId/links/destinations'

/** The choices of the filter: the states of the API, and their name. */
const FILTERS = {
  'broken,parked,failing': 'With problems',
  broken: 'Broken',
  parked: 'Parked or for sale',
  failing: 'Failing',
  not_allowed: 'Not checked',
  unchecked: 'Waiting for the first check',
  ok: 'OK',
}

export function DestinationsPage() {
  const workspace = useQuery(workspaceQuery(useApi()))
  return (
    <Page
      title="Destinations"
      description="The pages that your links lead to, checked once a day."
      breadcrumb={[{ label: 'Links', to: '/$workspaceId/links' }]}
    >
      {workspace.isPending && <SkeletonRows rows={6} className="h-16" />}
      {workspace.isError && !workspace.data && <ErrorState error={workspace.error} />}
      {workspace.data &&
        (workspace.data.watchDestinations ? (
          <>
            <Destinations />
            <WatchSetting />
          </>
        ) : (
          <NotWatched />
        ))}
    </Page>
  )
}

function Destinations() {
  const { state: written } = useSearch({ from: FROM })
  const navigate = useNavigate({ from: FROM })
  const state = written !== undefined && Object.hasOwn(FILTERS, written) ? written : ''
  const [repaired, setRepaired] = useState<DestinationResource>()
  return (
    <>
      <SelectField
        label="State"
        hideLabel
        className="mb-3 w-64"
        value={state}
        onChange={({ target }) =>
          navigate({ search: target.value === '' ? {} : { state: target.value }, replace: true })
        }
        options={Object.entries(FILTERS)}
      >
        <option value="">All destinations</option>
      </SelectField>
      <DestinationResults state={state} repair={setRepaired} />
      {repaired && (
        <RepairDialog
          destination={repaired}
          onClose={() => {
            setRepaired(undefined)
            focusIfLost(
              () =>
                document.getElementById(toDestinationElementId(repaired)) ?? document.getElementById('main'),
            )
          }}
        />
      )}
    </>
  )
}

interface ResultsProps {
  state: string
  repair: (destination: DestinationResource) => void
}

function DestinationResults({ state, repair }: ResultsProps) {
  const query = useInfiniteQuery(destinationsQuery(useApi(), state))
  if (query.isPending) return <SkeletonRows rows={6} className="h-16" />
  if (!query.data) return <ErrorState error={query.error} retry={() => void query.refetch()} />
  const destinations = query.data.pages.flatMap(({ data }) => data)
  if (destinations.length === 0)
    return state === '' ? (
      <EmptyState icon={Unlink} title="No destinations yet">
        The pages that your links lead to appear here.
      </EmptyState>
    ) : (
      <EmptyState icon={Unlink} title="None in this state">
        {state.includes('broken') ? 'Every page that was checked can be opened.' : 'Choose another state.'}
      </EmptyState>
    )
  return (
    <>
      <p role="status" className="mb-2 px-1 text-sm text-soft">
        {formatCount(query.data.pages[0]?.total ?? 0, 'destination')}
      </p>
      <ul aria-label="Destinations" className="overflow-clip rounded-2xl border border-line bg-card">
        {destinations.map((destination) => (
          <DestinationRow
            key={destination.url}
            destination={destination}
            repair={() => repair(destination)}
          />
        ))}
      </ul>
      <ShowMore query={query} className="mt-3" />
    </>
  )
}
