// The imports of the workspace, the newest first.

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { pollEvery } from '../../api/session.ts'
import { type ImportResource, importsQuery, isUnderway } from '../../api/transfer/imports.ts'
import { useApi, useWorkspace } from '../../shell/use-workspace.ts'
import { Badge } from '../../ui/badge.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { formatDay } from '../../ui/format.ts'
import { RelativeTime } from '../../ui/relative-time.tsx'
import { ShowMore } from '../../ui/show-more.tsx'
import { SkeletonRows } from '../../ui/skeleton.tsx'
import { canUndo, countItems, isCanceled, toFiguresText, toImportState } from './import-state.ts'
import { toSourceTitle } from './source-names.ts'

const POLL_MS = 3000

export function ImportList() {
  const query = useInfiniteQuery({
    ...importsQuery(useApi()),
    refetchInterval: (current) => {
      const isMoving = current.state.data?.pages.some(({ data }) => data.some(isUnderway))
      return isMoving ? pollEvery(POLL_MS)(current) : false
    },
  })
  const imports = query.data?.pages.flatMap(({ data }) => data)
  return (
    <section aria-labelledby="earlier-imports" className="min-w-0">
      <h2 id="earlier-imports" className="mb-2 px-1 font-semibold">
        Earlier imports
      </h2>
      {query.isPending && <SkeletonRows rows={2} className="h-18" />}
      {query.isError && !imports && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {imports?.length === 0 && (
        <p className="rounded-2xl border border-dashed border-line px-5 py-6 text-center text-soft">
          No imports yet. Each one is listed here, and can be undone for 30 days.
        </p>
      )}
      {imports && imports.length > 0 && (
        <ul className="divide-y divide-line overflow-clip rounded-2xl border border-line bg-card">
          {imports.map((item) => (
            <ImportRow key={item.id} item={item} />
          ))}
        </ul>
      )}
      <ShowMore query={query} className="mt-3" />
    </section>
  )
}

function ImportRow({ item }: { item: ImportResource }) {
  const { id } = useWorkspace()
  const { label, tone } = toImportState(item)
  const detail = toDetail(item)
  return (
    <li className="relative grid grid-cols-[minmax(0,1fr)_auto] gap-x-3 gap-y-0.5 px-4 py-3 hover:bg-hover">
      <p className="flex min-w-0 flex-wrap items-center gap-x-2.5 gap-y-1">
        <Link
          to="/$workspaceId/settings/transfer/$importId"
          params={{ workspaceId: String(id), importId: String(item.id) }}
          search={{}}
          className="min-w-0 font-medium wrap-anywhere after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
        >
          {toSourceTitle(item.source)}
          {item.fileName !== null && <span className="font-normal text-soft"> · {item.fileName}</span>}
        </Link>
        <Badge tone={tone}>{label}</Badge>
      </p>
      <p className="text-sm whitespace-nowrap text-soft">
        <RelativeTime at={item.createdAt} />
      </p>
      <p className="col-span-full text-sm break-words text-soft">
        {item.problem ?? toFiguresText(item)}
        {detail && `. ${detail}.`}
      </p>
    </li>
  )
}

function toDetail(item: ImportResource): string | false {
  if (item.status === 'undone' && item.undoneAt)
    return isCanceled(item)
      ? false
      : `Undone on ${formatDay(item.undoneAt)}${item.kept.length > 0 ? `, ${countItems(item, item.kept.length)} kept` : ''}`
  return (
    canUndo(item) && item.undoableUntil !== null && `Can be undone until ${formatDay(item.undoableUntil)}`
  )
}
