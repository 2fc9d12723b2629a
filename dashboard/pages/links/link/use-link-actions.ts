// Actions for one or many links: copy, archive, tag, delete. The result shows at once and can be undone.

import { useQueryClient } from '@tanstack/react-query'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import {
  deleteLinks,
  type EditedLinksResource,
  editLinks,
  invalidateLinks,
  type LinkChangesInput,
  removeLoadedLinks,
  restoreLinks,
  undoEdit,
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

/** One change of many links, which the toast can undo. */
function useLinkEdit() {
  const api = useApi()
  const client = useQueryClient()

  /**
   * Makes one change to many links, with a toast that can undo it.
   * @param preview the new state, which shows at once; a link that cannot change gets its own back
   */
  async function edit(
    links: LinkResource[],
    changes: LinkChangesInput,
    { describe, preview = (link) => link }: EditTexts,
  ): Promise<EditedLinksResource> {
    const before = new Map(links.map((link) => [link.id, link]))
    updateLoadedLinks(client, api, new Map(links.map((link) => [link.id, preview(link)])))
    try {
      const result = await editLinks(api, [...before.keys()], changes)
      updateLoadedLinks(client, api, new Map([...before, ...toEntries(result.changed)]))
      const count = result.changed.length === 1 ? 'Link' : formatCount(result.changed.length, 'link')
      if (result.changed.length > 0)
        toast(describe(count), {
          forMs: UNDO_MS,
          action: { label: 'Undo', run: () => undo(result.undo) },
        })
      return result
    } catch (error) {
      updateLoadedLinks(client, api, before)
      throw error
    } finally {
      await invalidateLinks(client, api)
    }
  }

  async function undo(edits: EditedLinksResource['undo']): Promise<boolean> {
    try {
      const { changed, failed } = await undoEdit(api, edits)
      updateLoadedLinks(client, api, new Map(toEntries(changed)))
      if (failed.length > 0) toastError(describeFailures(failed), 'Couldn’t undo everything')
      return failed.length === 0
    } catch (error) {
      toastError(error, 'Couldn’t undo')
      return false
    } finally {
      await invalidateLinks(client, api)
    }
  }

  return edit
}

export function useLinkActions() {
  const edit = useLinkEdit()

  async function archive(links: LinkResource[], archived = true) {
    const failure = archived ? 'Couldn’t archive' : 'Couldn’t unarchive'
    try {
      const { failed } = await edit(
        links,
        { archived },
        {
          describe: (name) => (archived ? `${name} archived` : `${name} unarchived`),
          preview: (link) => ({ ...link, archived }),
        },
      )
      if (failed.length > 0) toastError(describeFailures(failed), failure)
    } catch (error) {
      toastError(error, failure)
    }
  }

  async function changeTags(
    links: LinkResource[],
    { added, removed }: { added: LinkTags; removed: LinkTags },
  ) {
    const [addTagIds, removeTagIds] = [added.map(({ id }) => id), removed.map(({ id }) => id)]
    const { failed } = await edit(
      links,
      { addTagIds, removeTagIds },
      {
        describe: (name) => `${name} tagged`,
        preview: ({ tags, ...link }) => ({
          ...link,
          tags: [...tags.filter(({ id }) => ![...addTagIds, ...removeTagIds].includes(id)), ...added],
        }),
      },
    )
    if (failed.length > 0) throw new Error(describeFailures(failed))
  }

  return { archive, changeTags, edit, remove: useDeleteLinks() }
}

type LinkTags = LinkResource['tags']

interface EditTexts {
  /** The toast. @param name `Link`, or `3 links` */
  describe: (name: string) => string
  preview?: (link: LinkResource) => LinkResource
}

const toEntries = (links: LinkResource[]) => links.map((link) => [link.id, link] as const)

/** The toast shows the first reason only. */
const describeFailures = (failed: EditedLinksResource['failed']) =>
  `${formatCount(failed.length, 'link')}: ${Object.values(failed[0]?.errors ?? {})[0] ?? ''}`

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
