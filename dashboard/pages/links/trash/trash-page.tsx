// The trash: deleted links, which can return for 30 days.

import { useInfiniteQuery } from '@tanstack/react-query'
import { ArrowLeft, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import type { TrashedLinkResource } from '../../../../server/features/links/schema.ts'
import { trashQuery } from '../../../api/links.ts'
import { useApi, useCanEdit } from '../../../shell/use-workspace.ts'
import { Button, ButtonLink } from '../../../ui/button.tsx'
import { EmptyState } from '../../../ui/empty-state.tsx'
import { ErrorState } from '../../../ui/error-state.tsx'
import { focusIfLost } from '../../../ui/focus.ts'
import { formatCount } from '../../../ui/format.ts'
import { ConfirmDialog } from '../../../ui/overlays/confirm-dialog.tsx'
import { Page } from '../../../ui/page.tsx'
import { SkeletonRows } from '../../../ui/skeleton.tsx'
import { TrashRow, toTrashElementId } from './trash-row.tsx'
import { useTrashActions } from './use-trash-actions.ts'

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
      actions={
        <>
          <ButtonLink
            variant="quiet"
            from="/$workspaceId/links/trash"
            to="/$workspaceId/links"
            search={{}}
            icon={<ArrowLeft size={16} />}
          >
            All links
          </ButtonLink>
          {canEdit && total > 0 && <Button onClick={() => setEmptying(true)}>Empty trash</Button>}
        </>
      }
    >
      {query.isPending && <SkeletonRows rows={4} className="h-16" />}
      {query.isError && !query.data && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      {query.data && links.length === 0 && (
        <EmptyState icon={<Trash2 size={32} />} title="The trash is empty">
          Links that you delete stay here for 30 days.
        </EmptyState>
      )}
      {links.length > 0 && <Links links={links} total={total} />}
      {query.hasNextPage && (
        <Button className="mt-3" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          Show more
        </Button>
      )}
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
          {deleting?.domain}/{deleting?.slug} cannot be restored afterwards. Its clicks stay in the analytics,
          and another link can take its short link.
        </p>
      </ConfirmDialog>
    </>
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
        {formatCount(total, 'link')} cannot be restored afterwards. Their clicks stay in the analytics, and
        other links can take their short links.
      </p>
    </ConfirmDialog>
  )
}
