// The tags that match a typed name, and a new tag where no tag has that name.

import { useQuery } from '@tanstack/react-query'
import { useDeferredValue, useMemo, useRef } from 'react'
import type { LinkResource } from '../../../../server/features/links/schema.ts'
import { tagsQuery } from '../../../api/tags.ts'
import { useApi } from '../../../shell/use-workspace.ts'

export type LinkTag = LinkResource['tags'][number]

/** The id of a tag that does not exist yet. */
export const NEW_TAG_ID = 0
export const TAG_NAME_MAX = 50

const isSameName = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** @param existing further existing tags, such as those of the link */
export function useTagOptions(text: string, { create, existing }: { create: boolean; existing: LinkTag[] }) {
  const name = text.trim()
  const { data, isPending, isPlaceholderData } = useQuery({
    ...tagsQuery(useApi(), useDeferredValue(name)),
    placeholderData: (before) => before,
  })
  const options = useMemo<LinkTag[]>(() => {
    const matches = (data?.data ?? []).filter((tag) => tag.name.toLowerCase().includes(name.toLowerCase()))
    const isLoaded = !isPending && !isPlaceholderData
    const isTaken = [...matches, ...existing].some((tag) => isSameName(tag.name, name))
    const newTags: LinkTag[] =
      create && isLoaded && name !== '' && name.length <= TAG_NAME_MAX && !isTaken
        ? [{ id: NEW_TAG_ID, name, color: 'gray' }]
        : []
    return [...matches, ...newTags]
  }, [data, name, create, existing, isPending, isPlaceholderData])
  return { options, isPending }
}

/** Compares by id, or by name where a tag does not exist yet. */
export const isSameTag = (a: LinkTag, b: LinkTag) =>
  a.id === NEW_TAG_ID || b.id === NEW_TAG_ID ? isSameName(a.name, b.name) : a.id === b.id

interface TypedTagOptions {
  text: string
  options: LinkTag[]
  tags: LinkTag[]
  create: boolean
  choose: (tags: LinkTag[]) => void
}

/** Enter before the list has loaded chooses the typed name. It must not submit the form around the field. */
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
      const sameName = options.find((tag) => isSameName(tag.name, typed.name))
      const choice = sameName ?? (create ? typed : undefined)
      if (typed.name !== '' && choice && !tags.some((tag) => isSameTag(tag, choice)))
        choose([...tags, choice])
    },
  }
}
