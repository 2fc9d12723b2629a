// The command palette (⌘K): opens pages, finds links, forms and submissions, shortens a pasted address, sets the theme.

import { Autocomplete } from '@base-ui/react/autocomplete'
import { Dialog } from '@base-ui/react/dialog'
import { useState } from 'react'
import { type PaletteEntry, usePaletteEntries } from './use-palette-entries.ts'

export function CommandPalette({ initialText, onClose }: { initialText: string; onClose: () => void }) {
  const [text, setText] = useState(initialText)
  const { entries, isSearching, problems } = usePaletteEntries(text)
  const choose = (entry: PaletteEntry) => {
    onClose()
    entry.run()
  }
  return (
    <Dialog.Root open onOpenChange={(open) => open || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop data-backdrop className="fade fixed inset-0 z-40 bg-shade" />
        <Dialog.Popup
          aria-label="Search and commands"
          className="appear fixed top-[12dvh] left-1/2 z-50 flex max-h-[70dvh] w-[calc(100%-2rem)] max-w-xl -translate-x-1/2 flex-col overflow-hidden rounded-2xl border border-line bg-card shadow-xl"
        >
          <Autocomplete.Root
            inline
            open
            items={entries}
            value={text}
            onValueChange={setText}
            filter={null}
            itemToStringValue={(entry: PaletteEntry) => entry.label}
            autoHighlight="always"
            keepHighlight
          >
            <Autocomplete.Input
              aria-label="Search and commands"
              placeholder="Search, paste a URL, or jump to a page"
              className="h-13 w-full border-b border-line bg-card px-4 outline-none"
            />
            <Autocomplete.List className="overflow-y-auto p-1.5 empty:hidden">
              {(entry: PaletteEntry) => (
                <Autocomplete.Item
                  key={entry.id}
                  value={entry}
                  onClick={() => choose(entry)}
                  className="flex items-center gap-3 rounded-lg px-3 py-2 outline-none data-highlighted:bg-hover"
                >
                  <entry.icon size={16} className="shrink-0 text-soft" />
                  <span className="min-w-0 truncate">{entry.label}</span>
                  {entry.detail && (
                    <span className="ml-auto max-w-1/2 shrink-0 truncate text-sm text-soft">
                      {entry.detail}
                    </span>
                  )}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
            <div role="status" className="px-4 py-4 text-sm text-soft empty:hidden">
              {isSearching && <p>Searching…</p>}
              {!isSearching && entries.length === 0 && problems.length === 0 && (
                <p>No matches. Search covers links, forms, submissions and pages.</p>
              )}
              {problems.map((problem) => (
                <p key={problem} className="text-danger">
                  {problem}
                </p>
              ))}
            </div>
          </Autocomplete.Root>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
