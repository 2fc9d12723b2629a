// The menu of saved views: open one, save what the page shows, and the list of all.

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Bookmark, BookmarkPlus, Globe, List } from 'lucide-react'
import { useState } from 'react'
import { viewsQuery } from '../../../api/views.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button } from '../../../ui/button.tsx'
import { lazyPart } from '../../../ui/lazy-part.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../../ui/overlays/menu.tsx'
import { useAnalyticsView } from '../view/use-analytics-view.ts'
import { toViewSearch } from './view-settings.ts'

const ViewDialog = lazyPart(() => import('./view-dialog.tsx'), 'ViewDialog')
const ViewListDialog = lazyPart(() => import('./view-list-dialog.tsx'), 'ViewListDialog')

const SHOWN = 10
const NO_FIXED_FILTERS = {}

export function ViewsMenu() {
  const api = useApi()
  const canEdit = useCanEdit()
  const page = useAnalyticsView(NO_FIXED_FILTERS)
  const { data } = useQuery(viewsQuery(api))
  const [open, setOpen] = useState<'new' | 'list'>()
  const views = data?.data ?? []
  return (
    <>
      <Menu trigger={<Button icon={<Bookmark size={15} />}>Views</Button>}>
        {views.slice(0, SHOWN).map((view) => (
          <MenuItem
            key={view.id}
            render={
              <Link
                to="/$workspaceId/analytics"
                params={{ workspaceId: String(api.workspaceId) }}
                search={toViewSearch(view)}
              />
            }
          >
            <span className="min-w-0 flex-1 truncate">{view.name}</span>
            {view.share && <Globe size={14} aria-label="Shared" className="text-soft" />}
          </MenuItem>
        ))}
        {views.length === 0 && (
          <p className="max-w-64 px-2.5 py-1.5 text-sm text-soft">
            A view keeps the filters and the period of this page, and can be shared.
          </p>
        )}
        <MenuSeparator />
        {canEdit && (
          <MenuItem icon={<BookmarkPlus size={15} />} onSelect={() => setOpen('new')}>
            Save this view
          </MenuItem>
        )}
        {views.length > 0 && (
          <MenuItem icon={<List size={15} />} onSelect={() => setOpen('list')}>
            {canEdit ? 'Edit and share views' : 'All views'}
          </MenuItem>
        )}
      </Menu>
      {open === 'new' && <ViewDialog page={page} onClose={() => setOpen(undefined)} />}
      {open === 'list' && <ViewListDialog page={page} onClose={() => setOpen(undefined)} />}
    </>
  )
}
