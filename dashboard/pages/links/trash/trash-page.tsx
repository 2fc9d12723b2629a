// The trash: deleted links, which can return for 30 days.

import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { RotateCcw, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import type { TrashedLinkResource } from '../../../../server/features/links/schema.ts'
import { emptyTrash, invalidateLinks, purgeLink, restoreLinks, trashQuery } from '../../../api/links.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button, IconButton } from '../../../ui/button.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatCount, formatTime, toReadableUrl } from '../../../ui/format.ts'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { Page } from '../../../ui/page.tsx'
import { ShowMore } from '../../../ui/show-more.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { toLinkName } from '../link/link-name.ts'
import { LinkBadges } from '../link/link-state.tsx'

export function TrashPage() {
  const query = useInfiniteQuery(trashQuery(useApi()))
  const canEdit = useCanEdit()
  const [isEmptying, setEmptying] = useState(false)
  const links = query.data?.pages.flatMap((page) => page.data) ?? []
  const total = query.data?.pages[0]?.total ?? 0
  return (
    <Page
      title="Trash"
      description="Deleted links keep their short link for 30 days, and can be restored with their history. Visitors see “Link not found”."
      breadcrumb={[{ label: 'Links', to: '/$workspaceId/links' }]}
      actions={canEdit && total > 0 && <Button onClick={() => setEmptying(true)}>Empty trash</Button>}
    >
      {query.isPending && <SkeletonRows rows={4} className="h-16" />}
      {query.isError && !query.data && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {query.data && links.length === 0 && (
        <EmptyState icon={Trash2} title="The trash is empty">
          Links that you delete stay here for 30 days.
        </EmptyState>
      )}
      {links.length > 0 && <Links links={links} total={total} />}
      <ShowMore query={query} className="mt-3" />
      <EmptyDialog open={isEmptying} total={total} onClose={() => setEmptying(false)} />
    </Page>
  )
}

function Links({ links, total }: { links: TrashedLinkResource[]; total: number }) {
  const { restore, purge } = useTrashActions()
  const [deleting, setDeleting] = useState<TrashedLinkResource>()
  const next = useRef<TrashedLinkResource>(undefined)
  /** The row in the place of one that leaves, or the page's heading area when none is left. */
  const focusNext = (link: TrashedLinkResource) => {
    const index = links.findIndex(({ id }) => id === link.id)
    next.current = links[index + 1] ?? links[index - 1]
    focusIfLost(() =>
      next.current
        ? document.getElementById(toTrashElementId(next.current.id))
        : document.getElementById('main'),
    )
  }
  return (
    <>
      <p role="status" className="mb-2 px-1 text-sm text-soft">
        {formatCount(total, 'link')}
      </p>
      <ul aria-label="Trash" className="overflow-clip rounded-2xl border border-line bg-card">
        {links.map((link) => (
          <TrashRow
            key={link.id}
            link={link}
            restore={() => void restore([link.id]).then(() => focusNext(link))}
            purge={() => setDeleting(link)}
          />
        ))}
      </ul>
      <ConfirmDialog
        open={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title="Delete this link for good?"
        action="Delete for good"
        onConfirm={async () => {
          if (!deleting) return
          await purge(deleting.id)
          focusNext(deleting)
        }}
      >
        <p className="break-words">
          {deleting?.domain}/{deleting?.slug} can’t be restored afterwards. Its clicks stay in the analytics,
          and another link can take its short link.
        </p>
      </ConfirmDialog>
    </>
  )
}

/** Actions on links in the trash: restore, permanently delete, empty the trash. */
function useTrashActions() {
  const api = useApi()
  const client = useQueryClient()
  return {
    /** Restored links appear in the lists from their start. */
    async restore(ids: number[]) {
      try {
        await restoreLinks(api, ids)
        toast(ids.length === 1 ? 'Link restored' : `${formatCount(ids.length, 'link')} restored`)
      } catch (error) {
        toastError(error, 'Couldn’t restore')
      }
      await invalidateLinks(client, api, { fromStart: true })
    },
    /** Throws, so that the dialog can show the error. */
    async purge(id: number) {
      await purgeLink(api, id)
      toast('Link permanently deleted')
      await invalidateLinks(client, api)
    },
    async empty() {
      const { purged } = await emptyTrash(api)
      toast(`${formatCount(purged, 'link')} permanently deleted`)
      await invalidateLinks(client, api)
    },
  }
}

const DAY_MS = 86_400_000

interface TrashRowProps {
  link: TrashedLinkResource
  restore: () => void
  purge: () => void
}

/** The id of the element of a row that can have the focus. */
const toTrashElementId = (id: number) => `trash-${id}`

/** One link in the trash: its destination, its time left, and the actions. */
function TrashRow({ link, restore, purge }: TrashRowProps) {
  const canEdit = useCanEdit()
  const daysLeft = Math.max(0, Math.ceil((Date.parse(link.purgesAt) - Date.now()) / DAY_MS))
  return (
    <li
      id={toTrashElementId(link.id)}
      tabIndex={-1}
      aria-label={toLinkName(link)}
      className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-b-0 focus-visible:-outline-offset-2"
    >
      <div className="min-w-0 flex-1 basis-60">
        <p className="flex min-w-0 items-center gap-2 font-medium">
          <span className="min-w-0 truncate">
            <span className="text-soft">{link.domain}/</span>
            {link.slug}
          </span>
          <LinkBadges link={link} />
        </p>
        <p className="truncate text-sm text-soft">
          {link.title && <span className="text-ink">{link.title} </span>}
          {toReadableUrl(link.destinationUrl)}
        </p>
      </div>
      <p className="text-sm whitespace-nowrap sm:text-right">
        <span className="block" title={`Permanently deleted on ${formatTime(link.purgesAt)}`}>
          {formatCount(daysLeft, 'day')} left
        </span>
        <span className="text-soft" title={`Deleted on ${formatTime(link.deletedAt)}`}>
          {formatCount(link.clicks, 'click')}
        </span>
      </p>
      {canEdit && (
        <div className="flex items-center gap-1">
          <Button
            size="small"
            icon={<RotateCcw size={14} />}
            aria-label={`Restore ${toLinkName(link)}`}
            onClick={restore}
          >
            Restore
          </Button>
          <IconButton label={`Delete ${toLinkName(link)} for good`} title="Delete for good" onClick={purge}>
            <Trash2 size={15} />
          </IconButton>
        </div>
      )}
    </li>
  )
}

function EmptyDialog({ open, total, onClose }: { open: boolean; total: number; onClose: () => void }) {
  const { empty } = useTrashActions()
  return (
    <ConfirmDialog
      open={open}
      onClose={onClose}
      title="Empty the trash?"
      action="Delete for good"
      onConfirm={async () => {
        await empty()
        focusIfLost(() => document.getElementById('main'))
      }}
    >
      <p>
        {formatCount(total, 'link')} can’t be restored afterwards. Their clicks stay in the analytics, and
        other links can take their short links.
      </p>
    </ConfirmDialog>
  )
}
