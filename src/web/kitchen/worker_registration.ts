// The service worker, which opens the page where the box does not answer. A page that requires trusted types takes the
// address from a policy alone: this one returns a constant.

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(): string }): { createScriptURL(text: string): string };
}

export function registerWorker(then: (isRefused: boolean) => void): void {
  if (!navigator.serviceWorker) {
    then(true);
    return;
  }
  const url = '/kitchen/worker.js';
  const policies = (window as { trustedTypes?: Policies }).trustedTypes;
  const trusted = policies ? policies.createPolicy('comanda', { createScriptURL: () => url }).createScriptURL(url) : url;
  navigator.serviceWorker.register(trusted, { scope: '/kitchen' }).then(() => then(false), () => then(true));
}
