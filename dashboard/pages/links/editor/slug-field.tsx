// The short link's own name, and whether it can be had.

import { useQuery } from '@tanstack/react-query'
import { Shuffle } from 'lucide-react'
import { useDeferredValue, useEffect, useState } from 'react'
import { slugQuery } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { IconButton } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Field } from '../../../ui/forms/field.tsx'
import { toLinkName } from '../link/link-state.tsx'
import type { LinkFieldsProps } from './field-props.ts'

// The server's own rule decides; this one says so before anything is sent. No letter that is mistaken for another.
const SLUG = /^[\p{L}\p{M}\p{N}._-]+$/u
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
const RANDOM_LENGTH = 7
const TYPING_MS = 250

const randomSlug = () =>
  Array.from(
    crypto.getRandomValues(new Uint32Array(RANDOM_LENGTH)),
    (n) => ALPHABET[n % ALPHABET.length],
  ).join('')

export function SlugField({ draft, link, errors, onChange }: LinkFieldsProps) {
  const { slug } = draft
  const domain = link?.domain ?? location.host
  return (
    <Field
      label="Short link"
      className="grid-cols-1"
      error={errors.slug}
      hint={!errors.slug && <SlugHint slug={slug} current={link?.slug} clicks={link?.clicks ?? 0} />}
    >
      {(control) => (
        <div className="flex h-9 items-center rounded-lg border border-strong bg-card focus-within:outline-2 focus-within:outline-offset-2 focus-within:outline-accent">
          <span className="max-w-[45%] shrink-0 truncate pl-3 text-soft">{domain}/</span>
          <input
            {...control}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            maxLength={190}
            placeholder={link ? link.slug : 'random'}
            className="h-full min-w-0 flex-1 rounded-r-lg bg-card px-0.5 outline-none"
            value={slug}
            onChange={({ target }) => onChange({ slug: target.value })}
          />
          <IconButton label="Another random one" onClick={() => onChange({ slug: randomSlug() })}>
            <Shuffle size={15} />
          </IconButton>
        </div>
      )}
    </Field>
  )
}

function SlugHint({ slug, current, clicks }: { slug: string; current: string | undefined; clicks: number }) {
  const wanted = useDebounced(slug.trim().normalize('NFC'))
  const valid = wanted !== '' && SLUG.test(wanted) && wanted !== '.' && wanted !== '..'
  const own = wanted.toLowerCase() === current?.toLowerCase()
  const { data: taken, isFetching } = useQuery({ ...slugQuery(useApi(), wanted), enabled: valid && !own })
  if (slug.trim() === '') {
    return current ? 'Left empty it stays as it is.' : 'Left empty, seven random characters.'
  }
  if (wanted !== '' && !valid) {
    return <span className="text-danger">Letters, digits, “-”, “_” and “.” only.</span>
  }
  if (own || wanted === '') return 'Letters, digits, “-”, “_” and “.”; capitals make no difference.'
  if (isFetching) return 'Looking whether it is free…'
  if (taken) {
    return <span className="text-danger">Taken by “{toLinkName(taken).slice(0, 80)}” in this workspace.</span>
  }
  if (current === undefined) return <span className="text-accent">Not used in this workspace.</span>
  return (
    <span className="text-warn">
      {current} will lead nowhere{clicks > 0 && `; it has ${formatCount(clicks, 'click')}`}.
    </span>
  )
}

/** Once typing has paused. */
function useDebounced(text: string): string {
  const [later, setLater] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setLater(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return useDeferredValue(later)
}
