// The domain that a request is for, as the endpoints see it that stand on every domain: forms, and the snippet's intake.

export interface RequestDomain {
  /** '' is the default domain. */
  name: string
  /** Only what belongs to this workspace answers there; null on the default domain, which is everybody's. */
  workspaceId: number | null
}

/**
 * Does a thing of this workspace answer on the domain? A form of others on a company's domain would show their text under
 * the company's name, and would take what a script sends past the company's Content-Security-Policy
 * (docs/adr/0047-across-domains.md).
 */
export const servesWorkspace = (domain: RequestDomain, workspaceId: number): boolean =>
  domain.workspaceId === null || domain.workspaceId === workspaceId
