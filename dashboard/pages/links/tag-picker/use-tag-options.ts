// Tags to choose from while one types a name; where there is none of that name, one that would be made.

import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo, useRef } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { tagsQuery } from '../../../api/tags.ts'
import { useApi } from '../../../shell/use-workspace.ts'

export type LinkTag = LinkResource['tags'][number]

/** The id of a tag that is not there yet. */
export const NEW_TAG_ID = 0
export const TAG_NAME_MAX = 50

const isSameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** @param known further tags that are there, such as those of the link */
export function useTagOptions(text: string, { create, known }: { create: boolean; known: LinkTag[] }) {
  const name = text.trim()
  const { data, isPending, isPlaceholderData } = useQuery({
    ...tagsQuery(useApi(), useDeferredValue(name)),
    placeholderData: (before) => before,
  })
  const options = useMemo<LinkTag[]>(() => {
    const found = (data?.data ?? []).filter((tag) => tag.name.toLowerCase().includes(name.toLowerCase()))
    const asked = !isPending && !isPlaceholderData
    const taken = [...found, ...known].some((tag) => isSameName(tag.name, name))
    const fresh: LinkTag[] =
      create && asked && name !== '' && name.length <= TAG_NAME_MAX && !taken
        ? [{ id: NEW_TAG_ID, name, color: 'gray' }]
        : []
    return [...found, ...fresh]
  }, [data, name, create, known, isPending, isPlaceholderData])
  return { options, isPending }
}

/** The same tag: by id, or by name while it has none. */
export const isSameTag = (a: LinkTag, b: LinkTag) =>
  a.id === NEW_TAG_ID || b.id === NEW_TAG_ID ? isSameName(a.name, b.name) : a.id === b.id

interface TypedTagOptions {
  text: string
  options: LinkTag[]
  tags: LinkTag[]
  create: boolean
  choose: (tags: LinkTag[]) => void
}

/** Enter that comes before the list does: what was typed is meant. It must not send the form around it either. */
export function useTypedTag({ text, options, tags, create, choose }: TypedTagOptions) {
  const highlighted = useRef<LinkTag>(undefined)
  return {
    onItemHighlighted(tag: LinkTag | undefined) {
      highlighted.current = tag
    },
    onEnter(event: React.KeyboardEvent) {
      if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || highlighted.current) return
      event.preventDefault()
      const typed: LinkTag = { id: NEW_TAG_ID, name: text.trim(), color: 'gray' }
      const known = options.find((tag) => isSameName(tag.name, typed.name))
      const meant = known ?? (create ? typed : undefined)
      if (typed.name !== '' && meant && !tags.some((tag) => isSameTag(tag, meant))) choose([...tags, meant])
    },
  }
}
