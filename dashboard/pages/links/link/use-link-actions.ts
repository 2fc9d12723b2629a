// Actions for one or many links: copy, archive, tag, delete. The result shows at once and can be undone.

import { useQueryClient } from '@tanstack/react-query'
import type { LinkResource, UpdateLinkInput } from '../../../../server/features/links/schema.ts'
import {
  deleteLinks,
  invalidateLinks,
  removeLoadedLinks,
  restoreLinks,
  updateLinks,
  updateLoadedLinks,
} from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { copyText } from '../../../ui/copy/copy-button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { toast, toastError } from '../../../ui/overlays/toast.tsx'

/** Callbacks of a list, a menu or a page for the actions on a link. */
export interface LinkHandlers {
  edit: (link: LinkResource) => void
  duplicate: (link: LinkResource) => void
  showQr: (link: LinkResource) => void
  archive: (link: LinkResource) => void
  remove: (link: LinkResource) => void
}

/** Longer than other toasts: one Undo may be for many links. The trash keeps them anyway. */
const UNDO_MS = 8000

export const copyLink = ({ shortUrl, domain, slug }: LinkResource) =>
  copyText(shortUrl).then(
    () => void toast(`Copied ${domain}/${slug}`, { forMs: 2000 }),
    (error) => toastError(error, 'Couldn’t copy'),
  )

export function useLinkActions() {
  const api = useApi()
  const client = useQueryClient()

  /** Shows the new state at once, and the previous state again when the request fails. */
  async function change(
    links: LinkResource[],
    toState: (link: LinkResource) => Partial<LinkResource>,
    toInput: (link: LinkResource) => UpdateLinkInput,
  ) {
    updateLoadedLinks(client, api, new Map(links.map((link) => [link.id, { ...link, ...toState(link) }])))
    try {
      const changed = await updateLinks(
        api,
        links.map((link) => ({ ...toInput(link), id: link.id })),
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
      const name = links.length === 1 ? 'Link' : formatCount(links.length, 'link')
      toast(`${name} ${archived ? 'archived' : 'unarchived'}`, { action: { label: 'Undo', run: undo } })
    } catch (error) {
      toastError(error, archived ? 'Couldn’t archive' : 'Couldn’t unarchive')
    }
  }

  /** @param tags the tags that a link gets */
  const setTags = (links: LinkResource[], tags: (link: LinkResource) => LinkResource['tags']) =>
    change(
      links,
      (link) => ({ tags: tags(link) }),
      (link) => ({ tagIds: tags(link).map(({ id }) => id) }),
    )

  return { archive, setTags, remove: useDeleteLinks() }
}

function useDeleteLinks() {
  const api = useApi()
  const client = useQueryClient()

  /** The links disappear at once, and return where they were when the request fails or is undone. */
  async function remove(links: LinkResource[]) {
    const ids = links.map(({ id }) => id)
    const putBack = removeLoadedLinks(client, api, ids)
    const name = links.length === 1 ? 'Link' : formatCount(links.length, 'link')
    try {
      await deleteLinks(api, ids)
    } catch (error) {
      putBack()
      toastError(error, 'Couldn’t delete')
      return invalidateLinks(client, api)
    }
    const undo = () =>
      void restore(ids, putBack).then(
        () => toast(`${name} restored`, { forMs: 2000 }),
        (error) => toastError(error, 'Couldn’t restore'),
      )
    toast(`${name} moved to trash`, { forMs: UNDO_MS, action: { label: 'Undo', run: undo } })
    await invalidateLinks(client, api)
  }

  async function restore(ids: number[], putBack: () => void) {
    await restoreLinks(api, ids)
    putBack()
    await invalidateLinks(client, api)
  }

  return remove
}
