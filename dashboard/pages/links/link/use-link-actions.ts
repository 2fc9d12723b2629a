// What can be done to links from a list or from their page: shown at once, and to be taken back.

import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { LinkResource, UpdateLinkInput } from '../../../../server/features/links/schema.ts'
import { deleteLinks, invalidateLinks, updateLinks, updateLoadedLinks } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { copyText } from '../../../ui/copy/copy-button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'
import { usePendingDeletions, useUndoableDelete } from '../../../ui/overlays/use-undoable-delete.ts'

const DELETION_PREFIX = 'links '

/** The links that were deleted a moment ago, while that can still be taken back. */
export function usePendingLinkDeletions(): ReadonlySet<number> {
  const leaving = usePendingDeletions()
  return useMemo(
    () =>
      new Set(
        [...leaving].flatMap((key) =>
          key.startsWith(DELETION_PREFIX) ? key.slice(DELETION_PREFIX.length).split(',').map(Number) : [],
        ),
      ),
    [leaving],
  )
}

export const copyLink = ({ shortUrl, domain, slug }: LinkResource) =>
  copyText(shortUrl).then(
    () => void toast(`Copied ${domain}/${slug}`, { forMs: 2000 }),
    (error) => toastError(error, 'Not copied'),
  )

export function useLinkActions() {
  const api = useApi()
  const client = useQueryClient()
  const undoable = useUndoableDelete()

  /** Shows `after` at once, and the former state again where the server refuses. */
  async function change(
    links: LinkResource[],
    after: (link: LinkResource) => Partial<LinkResource>,
    to: (link: LinkResource) => UpdateLinkInput,
  ) {
    updateLoadedLinks(client, api, new Map(links.map((link) => [link.id, { ...link, ...after(link) }])))
    try {
      const changed = await updateLinks(
        api,
        links.map((link) => ({ ...to(link), id: link.id })),
      )
      updateLoadedLinks(client, api, new Map(changed.map((link) => [link.id, link])))
    } catch (error) {
      updateLoadedLinks(client, api, new Map(links.map((link) => [link.id, link])))
      throw error
    } finally {
      await invalidateLinks(client, api)
    }
  }

  async function archive(links: LinkResource[], archived = true) {
    const set = (value: boolean) =>
      change(
        links,
        () => ({ archived: value }),
        () => ({ archived: value }),
      )
    const undo = () => void set(!archived).catch((error) => toastError(error))
    try {
      await set(archived)
      const what = links.length === 1 ? 'Link' : formatCount(links.length, 'link')
      toast(`${what} ${archived ? 'archived' : 'answers again'}`, { action: { label: 'Undo', run: undo } })
    } catch (error) {
      toastError(error, archived ? 'Not archived' : 'Not brought back')
    }
  }

  /** @param tags what each link has afterwards */
  const tag = (links: LinkResource[], tags: (link: LinkResource) => LinkResource['tags']) =>
    change(
      links,
      (link) => ({ tags: tags(link) }),
      (link) => ({ tagIds: tags(link).map(({ id }) => id) }),
    )

  function remove(links: LinkResource[]) {
    const ids = links.map(({ id }) => id)
    undoable({
      key: DELETION_PREFIX + ids.join(','),
      message: links.length === 1 ? 'Link deleted' : `${formatCount(links.length, 'link')} deleted`,
      async remove() {
        await deleteLinks(api, ids)
        updateLoadedLinks(client, api, new Map(ids.map((id) => [id, null])))
        await invalidateLinks(client, api)
      },
      invalidates: [],
    })
  }

  return { archive, tag, remove }
}
