// The list of all saved views.

import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ViewResource } from '../../../../server/features/views/schema.ts'
import { deleteView, invalidateViews, viewsQuery } from '../../../api/views.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { IconButton } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy/copy-button.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { Dialog } from '../../../ui/overlays/dialog.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import type { AnalyticsView } from '../view/use-analytics-view.ts'
import { ViewDialog } from './view-dialog.tsx'
import { toViewSearch } from './view-settings.ts'

/** @param page the state of the page, which a view can save */
export function ViewListDialog({ page, onClose }: { page: AnalyticsView; onClose: () => void }) {
  const { data, error, refetch } = useQuery(viewsQuery(useApi()))
  return (
    <Dialog onClose={onClose} title="Views" wide>
      {data ? (
        <ul className="grid">
          {data.data.map((view) => (
            <ViewItem key={view.id} view={view} page={page} onOpen={onClose} />
          ))}
          {data.data.length === 0 && <li className="py-4 text-soft">No saved views</li>}
        </ul>
      ) : error ? (
        <ErrorState error={error} retry={() => void refetch()} />
      ) : (
        <SkeletonRows rows={3} className="h-12" />
      )}
    </Dialog>
  )
}

function ViewItem({ view, page, onOpen }: { view: ViewResource; page: AnalyticsView; onOpen: () => void }) {
  const api = useApi()
  const client = useQueryClient()
  const canEdit = useCanEdit()
  const [open, setOpen] = useState<'edit' | 'delete'>()
  const close = () => setOpen(undefined)
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line py-2.5 last:border-0">
      <div className="min-w-40 flex-1">
        <Link
          to="/$workspaceId/analytics"
          params={{ workspaceId: String(api.workspaceId) }}
          search={toViewSearch(view)}
          onClick={onOpen}
          className="text-link"
        >
          {view.name}
        </Link>
        <p className="text-sm text-soft">
          {[view.createdBy?.name ?? 'API key', view.share ? 'shared' : 'not shared'].join(' · ')}
        </p>
      </div>
      {view.share && <CopyButton text={view.share.url} label={`Copy the shared link of ${view.name}`} />}
      {canEdit && (
        <>
          <IconButton label={`Edit ${view.name}`} onClick={() => setOpen('edit')}>
            <Pencil size={15} />
          </IconButton>
          <IconButton label={`Delete ${view.name}`} onClick={() => setOpen('delete')}>
            <Trash2 size={15} />
          </IconButton>
        </>
      )}
      {open === 'edit' && <ViewDialog view={view} page={page} onClose={close} />}
      <ConfirmDialog
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${view.name}?`}
        action="Delete"
        onConfirm={async () => {
          await deleteView(api, view.id)
          void invalidateViews(client, api)
        }}
      >
        <p>{view.share ? 'Its shared page stops working at once.' : 'Its clicks and leads stay.'}</p>
      </ConfirmDialog>
    </li>
  )
}
