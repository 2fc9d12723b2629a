// Lines to copy.

import { CopyButton } from './copy-button.tsx'

/** @param label what the lines are, such as "HTML of the form" */
export const CodeBlock = ({ code, label }: { code: string; label: string }) => (
  <figure className="overflow-hidden rounded-xl border border-line bg-sunken">
    <figcaption className="flex items-center gap-3 border-b border-line py-1.5 pr-1.5 pl-4 text-sm text-soft">
      <span className="min-w-0 flex-1 truncate">{label}</span>
      <CopyButton text={code} label={`Copy: ${label}`}>
        Copy
      </CopyButton>
    </figcaption>
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too
      tabIndex={0}
      className="max-h-96 overflow-auto p-4 text-sm leading-relaxed -outline-offset-2"
    >
      <code>{code}</code>
    </pre>
  </figure>
)
