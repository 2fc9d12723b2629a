// The field for the slug, with a check whether the slug is free.

import { useQuery } from '@tanstack/react-query'
import { Shuffle } from 'lucide-react'
import { useDeferredValue, useEffect, useState } from 'react'
import { slugQuery } from '../../../api/links.ts'
import { useApi } from '../../../shell/use-workspace.ts'
import { IconButton } from '../../../ui/button.tsx'
import { formatCount } from '../../../ui/format.ts'
import { Field } from '../../../ui/forms/field.tsx'
import { toLinkName } from '../link/link-name.ts'
import type { LinkFieldsProps } from './field-props.ts'

// The server decides; this copy of its rule only warns earlier.
const SLUG = /^[\p{L}\p{M}\p{N}._-]+$/u
/** Without letters and digits that are easily confused. */
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
          <IconButton label="Generate a random slug" onClick={() => onChange({ slug: randomSlug() })}>
            <Shuffle size={15} />
          </IconButton>
        </div>
      )}
    </Field>
  )
}

function SlugHint({ slug, current, clicks }: { slug: string; current: string | undefined; clicks: number }) {
  const checked = useDebounced(slug.trim().normalize('NFC'))
  const valid = checked !== '' && SLUG.test(checked) && checked !== '.' && checked !== '..'
  const isOwn = checked.toLowerCase() === current?.toLowerCase()
  const { data: conflict, isFetching } = useQuery({
    ...slugQuery(useApi(), checked),
    enabled: valid && !isOwn,
  })
  if (slug.trim() === '') {
    return current ? 'Leave empty to keep the current slug.' : 'Leave empty for a random slug.'
  }
  if (checked !== '' && !valid) {
    return <span className="text-danger">Use only letters, digits, “-”, “_” and “.”.</span>
  }
  if (isOwn || checked === '') return 'Letters, digits, “-”, “_” and “.”. Not case-sensitive.'
  if (isFetching) return 'Checking…'
  if (conflict) {
    return (
      <span className="text-danger">
        Already used by “{toLinkName(conflict).slice(0, 80)}” in this workspace.
      </span>
    )
  }
  if (current === undefined) return <span className="text-accent">Not used in this workspace.</span>
  return (
    <span className="text-warn">
      /{current} will stop working{clicks > 0 && `. It has ${formatCount(clicks, 'click')}`}.
    </span>
  )
}

/** The text, once typing has paused. */
function useDebounced(text: string): string {
  const [debounced, setDebounced] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setDebounced(text), TYPING_MS)
    return () => clearTimeout(timer)
  }, [text])
  return useDeferredValue(debounced)
}
