// One import: its progress, its result, and its undo. The page can be left and loaded again at any time.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { ApiError } from '../../../api/client.ts'
import {
  type ImportResource,
  importQuery,
  invalidateAfterImport,
  isUnderway,
} from '../../../api/transfer/imports.ts'
import { NotFoundPage } from '../../../shell/error-pages.tsx'
import { useApi } from '../../../shell/use-workspace.ts'
import { Badge } from '../../../ui/badge.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { formatTime } from '../../../ui/format.ts'
import { COLUMN, type Crumb, Page } from '../../../ui/page.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { toImportState } from '../import-state.ts'
import { toSourcePhrase } from '../source-names.ts'
import { describeOutcome } from './describe-outcome.ts'
import { ImportProgress, toProgressText } from './import-progress.tsx'
import { ImportResult } from './import-result.tsx'

const FROM = '/$workspaceId/settings/transfer/$importId'

const IMPORTS: Crumb[] = [
  { label: 'Settings', to: '/$workspaceId/settings' },
  { label: 'Import and export', to: '/$workspaceId/settings/transfer' },
]

export function ImportPage() {
  const { importId } = useParams({ from: FROM })
  const id = Number(importId)
  const query = useQuery({ ...importQuery(useApi(), id), enabled: Number.isInteger(id) && id > 0 })
  useInvalidationWhenDone(query.data)
  const isMissing = query.error instanceof ApiError && [404, 422].includes(query.error.status)
  if ((isMissing && !query.data) || !(id > 0)) return <NotFoundPage />
  return (
    <Page
      title={query.data ? toTitle(query.data) : 'Import'}
      description={query.data && <Description item={query.data} />}
      breadcrumb={IMPORTS}
    >
      {query.isPending && <SkeletonRows rows={2} className="h-40 rounded-2xl" />}
      {query.error && !query.data && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {/* Always rendered, so that screen readers announce its changes. */}
      <p aria-live="polite" className="sr-only">
        {query.data &&
          (isUnderway(query.data) ? toProgressText(query.data) : describeOutcome(query.data).title)}
      </p>
      {query.data && (
        <div className={`${COLUMN} gap-6`}>
          {isUnderway(query.data) ? (
            <ImportProgress item={query.data} problem={query.error} />
          ) : (
            <ImportResult item={query.data} />
          )}
        </div>
      )}
    </Page>
  )
}

const toTitle = ({ source, dryRun }: ImportResource) =>
  dryRun ? `Dry run: import from ${toSourcePhrase(source)}` : `Import from ${toSourcePhrase(source)}`

function Description({ item }: { item: ImportResource }) {
  const { label, tone } = toImportState(item)
  const files = [item.fileName, item.clicksFileName].filter((name) => name !== null).join(', ')
  return (
    <span className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
      {!(item.dryRun && item.status === 'done') && <Badge tone={tone}>{label}</Badge>}
      <span className="min-w-0 wrap-anywhere">
        {files && `${files}, `}
        {formatTime(item.createdAt)}
      </span>
    </span>
  )
}

/** Invalidates links, tags and clicks when the import ends. */
function useInvalidationWhenDone(item: ImportResource | undefined) {
  const api = useApi()
  const client = useQueryClient()
  const wasUnderway = useRef(false)
  const underway = item !== undefined && isUnderway(item)
  useEffect(() => {
    if (wasUnderway.current && !underway) void invalidateAfterImport(client, api)
    wasUnderway.current = underway
  }, [underway, client, api])
}
