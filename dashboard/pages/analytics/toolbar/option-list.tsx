// A searchable list of options. Enter chooses an option, and the list stays open.

import { Autocomplete } from '@base-ui/react/autocomplete'
import { Check, ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { CountryFlag } from '../../../ui/country-flag.tsx'

export interface ListOption {
  id: string
  label: string
  detail?: string
  countryCode?: string
  chosen?: boolean
  hasSubmenu?: boolean
  run: () => void
}

export function OptionList({
  label,
  items,
  text,
  setText,
  close,
  back,
  head,
  empty,
}: {
  label: string
  items: ListOption[]
  text: string
  setText: (text: string) => void
  close: () => void
  back?: () => void
  head?: ReactNode
  empty?: ReactNode
}) {
  return (
    <div className="flex max-h-96 flex-col">
      {head}
      <Autocomplete.Root
        inline
        open
        items={items}
        value={text}
        // Choosing an option keeps the search text, so that similar values stay visible.
        onValueChange={(next, { reason }) => reason !== 'item-press' && setText(next)}
        filter={null}
        itemToStringValue={(item: ListOption) => item.label}
        autoHighlight="always"
        keepHighlight
      >
        <Autocomplete.Input
          autoFocus
          aria-label={label}
          placeholder={label}
          onKeyDown={(event) => {
            if (event.key === 'Backspace' && text === '' && back) back()
            if (event.key === 'Escape') close()
          }}
          className="h-11 w-full shrink-0 border-b border-line bg-card px-3 outline-none"
        />
        <Autocomplete.Empty className="px-3 text-sm text-soft empty:hidden">
          <div className="py-4">{empty ?? 'No matches'}</div>
        </Autocomplete.Empty>
        <Autocomplete.List className="min-h-0 overflow-y-auto p-1.5 empty:hidden">
          {(item: ListOption) => (
            <Autocomplete.Item
              key={item.id}
              value={item}
              onClick={item.run}
              className="flex items-center gap-2.5 rounded-lg px-2.5 py-1.5 text-sm outline-none data-highlighted:bg-hover"
            >
              {item.chosen && <Check size={14} aria-label="selected" className="shrink-0 text-accent" />}
              {item.countryCode && <CountryFlag code={item.countryCode} />}
              <span className="min-w-0 flex-1 truncate">{item.label}</span>
              {item.detail && <span className="shrink-0 text-soft tabular-nums">{item.detail}</span>}
              {item.hasSubmenu && <ChevronRight size={14} aria-hidden className="shrink-0 text-soft" />}
            </Autocomplete.Item>
          )}
        </Autocomplete.List>
      </Autocomplete.Root>
    </div>
  )
}
