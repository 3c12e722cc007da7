import assert from 'node:assert';
import test from 'node:test';
import { LockedOut, NoAnswer, Refused } from '../../../src/web/shared/api';
import { Feed, Live, News } from '../../../src/web/shared/live';

// Answers in turn; says what was asked. Ends the loop when there is nothing left to answer.
class Story implements Feed {
  asked: string[] = [];
  ended: LockedOut | null = null;
  live: Live;
  private finish: () => void = () => undefined;
  readonly over = new Promise<void>((resolve) => { this.finish = resolve; });

  constructor(private readonly answers: (News | Error)[], private readonly draws = 0) {
    this.live = new Live(this, () => 0);
  }

  private isDrawn = true;

  async all(): Promise<string> {
    this.asked.push('all');
    this.isDrawn = false;
    return 'c0';
  }

  async after(cursor: string): Promise<News> {
    this.asked.push(this.isDrawn ? cursor : cursor + ', before what came was drawn');
    const answer = this.answers.shift();
    if (!answer) {
      this.live.stop();
      this.finish();
      throw new NoAnswer('');
    }
    if (answer instanceof Error) throw answer;
    this.isDrawn = false;
    return answer;
  }

  async drawn(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, this.draws));
    this.isDrawn = true;
  }

  lockedOut(reason: LockedOut): void {
    this.ended = reason;
    this.finish();
  }
}

async function run(...answers: (News | Error)[]): Promise<Story> {
  const story = new Story(answers, 5);
  story.live.start();
  await story.over;
  return story;
}

function quiet(next: string): News { return { next, isNews: false, waited: true }; }

test('the cursor follows the answers, each asked for when the one before is drawn', async () => {
  const story = await run({ next: 'c1', isNews: true, waited: true }, quiet('c2'));
  assert.deepEqual(story.asked, ['all', 'c0', 'c1', 'c2']);
});

test('without an answer the cursor stays', async () => {
  const story = await run(quiet('c1'), new NoAnswer('cut'), quiet('c2'));
  assert.deepEqual(story.asked, ['all', 'c0', 'c1', 'c1', 'c2']);
});

test('an expired cursor reads all again', async () => {
  const story = await run(quiet('c1'), new Refused(410, 'cursor_expired', '', 0));
  assert.deepEqual(story.asked, ['all', 'c0', 'c1', 'all', 'c0']);
});

test('a key that is not accepted ends it', async () => {
  const story = await run(new LockedOut(401, 'key_revoked', '', 0));
  assert.equal(story.ended!.code, 'key_revoked');
  assert.deepEqual(story.asked, ['all', 'c0']);
});

test('an answer that did not wait is followed by a pause', async () => {
  const began = performance.now();
  await run({ next: 'c1', isNews: false, waited: false });
  assert.ok(performance.now() - began >= 990);
});
