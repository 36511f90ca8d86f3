package io.github.grpcidempotency.tink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.google.crypto.tink.Aead;
import com.google.crypto.tink.KeyTemplate;
import com.google.crypto.tink.KeyTemplates;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.KmsClient;
import com.google.crypto.tink.KmsClients;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.KmsAeadKeyManager;
import com.google.crypto.tink.aead.KmsEnvelopeAeadKeyManager;
import com.google.protobuf.ByteString;
import io.github.grpcidempotency.procedure.ResponseProtection;
import io.github.grpcidempotency.store.StoreException;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class TinkProtectionTest {
  private static final ByteString SECRET = ByteString.copyFromUtf8("secret");
  private static final ByteString ALICE = ByteString.copyFromUtf8("alice");
  private static final ByteString BOB = ByteString.copyFromUtf8("bob");
  private static final KeyManagement KMS = new KeyManagement();

  @BeforeAll
  static void registerKeyManagement() throws GeneralSecurityException {
    AeadConfig.register();
    KMS.aead = keyset("AES256_GCM").getPrimitive(RegistryConfiguration.get(), Aead.class);
    KmsClients.add(KMS);
  }

  @Test
  void aKeysetWhoseKeysHaveNoIdsAcceptsItsOwnAnswers() throws GeneralSecurityException {
    for (KeysetHandle keyset :
        List.of(
            keyset("AES256_GCM_RAW"),
            keyset(KmsAeadKeyManager.createKeyTemplate("test-kms://a")),
            keyset(
                KmsEnvelopeAeadKeyManager.createKeyTemplate(
                    "test-kms://a", KeyTemplates.get("AES256_GCM"))))) {
      ResponseProtection protection = TinkProtection.refusingUnknownKeys(keyset);
      for (int i = 0; i < 600; i++) {
        ByteString sealed = protection.seal(SECRET, ALICE);

        protection.verify("a.B/C", Set.of(sealed.substring(0, 5)));

        assertThat(protection.open(sealed, ALICE)).isEqualTo(SECRET);
      }
    }
  }

  @Test
  void aKeysetWhoseKeysHaveIdsRefusesOtherAnswers() throws GeneralSecurityException {
    ByteString sealed = TinkProtection.of(keyset("AES256_GCM")).seal(SECRET, ALICE);

    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                TinkProtection.refusingUnknownKeys(keyset("AES256_GCM"))
                    .verify("a.B/C", Set.of(sealed.substring(0, 5))));
  }

  @Test
  void anAnswerOfAnotherRecordOrOfAMissingKeyIsUnreadableForGood() throws GeneralSecurityException {
    ResponseProtection protection = TinkProtection.of(keyset("AES256_GCM"));
    ByteString sealed = protection.seal(SECRET, ALICE);

    assertThatIllegalStateException().isThrownBy(() -> protection.open(sealed, BOB));
    assertThatIllegalStateException()
        .isThrownBy(() -> TinkProtection.of(keyset("AES256_GCM")).open(sealed, ALICE));
  }

  @Test
  void anAnswerIsReadableAgainOnceTheKeyManagementIs() throws GeneralSecurityException {
    for (ResponseProtection protection :
        List.of(
            new TinkProtection(KMS.getAead("test-kms://a")),
            TinkProtection.of(keyset(KmsAeadKeyManager.createKeyTemplate("test-kms://a"))),
            TinkProtection.of(
                keyset(
                    KmsEnvelopeAeadKeyManager.createKeyTemplate(
                        "test-kms://a", KeyTemplates.get("AES256_GCM")))))) {
      ByteString sealed = protection.seal(SECRET, ALICE);

      KMS.away = true;
      assertThatExceptionOfType(StoreException.class)
          .isThrownBy(() -> protection.open(sealed, ALICE));
      KMS.away = false;

      assertThat(protection.open(sealed, ALICE)).isEqualTo(SECRET);
    }
  }

  private static KeysetHandle keyset(String template) throws GeneralSecurityException {
    return keyset(KeyTemplates.get(template));
  }

  private static KeysetHandle keyset(KeyTemplate template) throws GeneralSecurityException {
    return KeysetHandle.generateNew(template.toParameters(), RegistryConfiguration.get());
  }

  /** A key management that may be out of reach. */
  private static final class KeyManagement implements KmsClient, Aead {
    private volatile Aead aead = this;
    private volatile boolean away;

    @Override
    public boolean doesSupport(String keyUri) {
      return keyUri.startsWith("test-kms://");
    }

    @Override
    public KmsClient withCredentials(String path) {
      return this;
    }

    @Override
    public KmsClient withDefaultCredentials() {
      return this;
    }

    @Override
    public Aead getAead(String keyUri) {
      return this;
    }

    @Override
    public byte[] encrypt(byte[] plaintext, byte[] associatedData) throws GeneralSecurityException {
      return aead.encrypt(plaintext, associatedData);
    }

    @Override
    public byte[] decrypt(byte[] ciphertext, byte[] associatedData)
        throws GeneralSecurityException {
      if (away) {
        throw new GeneralSecurityException("decryption failed", new IOException("timed out"));
      }
      return aead.decrypt(ciphertext, associatedData);
    }
  }
}
