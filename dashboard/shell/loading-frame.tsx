// The first paint, before the scripts are loaded: the frame of the coming page, in its place and its colors. build.ts
// renders it to HTML, so it has neither hooks nor handlers.

import { Skeleton } from '../ui/skeleton.tsx'
import { CenteredLayout } from './centered-layout.tsx'
import { Logo } from './logo.tsx'
import { NAV_ITEMS } from './nav-items.tsx'

/** For a page of a workspace. The sizes are those of sidebar.tsx and ui/page.tsx. */
export const WorkspaceFrame = () => (
  <div className="min-h-dvh lg:grid lg:grid-cols-[15rem_minmax(0,1fr)]">
    <div className="border-b border-line bg-card lg:h-dvh lg:border-r lg:border-b-0">
      <div className="flex items-center p-2 lg:p-3">
        <div className="flex h-9 items-center gap-2.5 px-2">
          <Logo />
          <Skeleton className="h-4 w-28" />
        </div>
      </div>
      <div aria-hidden className="hidden px-3 lg:block">
        <div className="mb-3 h-8 rounded-lg border border-line bg-paper" />
        <ul className="grid gap-0.5">
          {NAV_ITEMS.map(({ label, icon: Icon }) => (
            <li key={label} className="flex h-9 items-center gap-2.5 rounded-lg px-2.5 text-soft">
              <Icon size={17} />
              {label}
            </li>
          ))}
        </ul>
      </div>
    </div>
    <div className="mx-auto w-full max-w-6xl px-4 py-6 sm:px-8 sm:py-8">
      <p role="status" className="mb-6 text-2xl font-semibold tracking-tight text-soft">
        Loading…
      </p>
      <div className="grid gap-2">
        <Skeleton className="h-14" />
        <Skeleton className="h-14" />
        <Skeleton className="h-14" />
      </div>
    </div>
  </div>
)

/** For a page without a workspace, such as sign-in. */
export const CenteredFrame = () => (
  <CenteredLayout>
    <p role="status" className="text-xl font-semibold text-soft">
      Loading…
    </p>
    <Skeleton className="h-9" />
    <Skeleton className="h-9" />
    <Skeleton className="h-9" />
  </CenteredLayout>
)
